const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The levels that clients want to read logs from, each its own; servers have one for all: the lowest. */
export class LogLevels {
  readonly #wanted = new Map<object, string>()

  /** `undefined` if nobody wants any in particular. */
  get lowest(): string | undefined {
    const wanted = [...this.#wanted.values()].map(level => LEVELS.indexOf(level))
    return wanted.length > 0 ? LEVELS[Math.min(...wanted)] : undefined
  }

  /** Says whether that changed the lowest; without a `level`, they want none any more. */
  set(client: object, level: string | undefined): boolean {
    const before = this.lowest
    if (level === undefined) this.#wanted.delete(client)
    else if (LEVELS.includes(level)) this.#wanted.set(client, level)
    return before !== this.lowest
  }
}
