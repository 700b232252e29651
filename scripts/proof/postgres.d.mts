/** A separate PostgreSQL in a temporary folder, which can be killed and started again. */
export class TestPostgres {
  static start(options?: { address?: string; network?: string; isQuick?: boolean }): Promise<TestPostgres>
  readonly folder: string
  readonly pid: number
  url(host?: string): string
  start(): Promise<void>
  /** Like a power failure. */
  kill(): Promise<void>
  stop(): Promise<void>
}
