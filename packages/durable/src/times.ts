export interface Times {
  /** How long a run that waits for approval stays with its worker, so that its caller can be answered. */
  inPlaceMs: number
  /** How long accepted runs wait for a worker with their tool to come back. */
  desertedMs: number
}

export const TIMES: Times = { inPlaceMs: 60_000, desertedMs: 120_000 }
