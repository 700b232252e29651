const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The log level each client wants. Servers have only one for all: the lowest. */
export class LogLevels {
  readonly #wanted = new Map<object, string>()

  /** `undefined` if no client has set one. */
  get lowest(): string | undefined {
    const wanted = [...this.#wanted.values()].map(level => LEVELS.indexOf(level))
    return wanted.length > 0 ? LEVELS[Math.min(...wanted)] : undefined
  }

  /** Returns whether the lowest level changed; `undefined` withdraws the client's level. */
  set(client: object, level: string | undefined): boolean {
    const before = this.lowest
    if (level === undefined) this.#wanted.delete(client)
    else if (LEVELS.includes(level)) this.#wanted.set(client, level)
    return before !== this.lowest
  }
}
