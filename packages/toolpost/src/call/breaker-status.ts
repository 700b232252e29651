/** Whether calls reach a server. `open`: they fail at once until `retryAt`; `half-open`: the next one decides. */
export interface BreakerStatus {
  state: 'closed' | 'open' | 'half-open'
  /** In a row, up to now. */
  failures: number
  /** ISO time, while it is open. */
  retryAt?: string
  /** What the last failure said. */
  error?: string
}
