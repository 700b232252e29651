/** How long is waited. */
export interface Times {
  /** A run that a person is asked about keeps its place, and its caller can be told. */
  inPlaceMs: number
  /** Accepted runs, for a worker to come back that has their tool. */
  desertedMs: number
}

export const TIMES: Times = { inPlaceMs: 60_000, desertedMs: 120_000 }
