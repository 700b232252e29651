/** Whether calls reach a server. `open`: they fail immediately until `retryAt`; `half-open`: the next one decides. */
export interface BreakerStatus {
  state: 'closed' | 'open' | 'half-open'
  /** Consecutive failures. */
  failures: number
  /** ISO time, while open. */
  retryAt?: string
  /** The message of the last failure. */
  error?: string
}
