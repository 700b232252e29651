import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** What a hostile server did, in a file: it counts what its deaths would make it forget. */
export class Journal {
  readonly #path: string | undefined

  constructor(path: string | undefined) {
    this.#path = path
  }

  write(event: string): void {
    if (this.#path) appendFileSync(this.#path, `${event}\n`)
  }

  count(event: string): number {
    if (!this.#path || !existsSync(this.#path)) return 0
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter(line => line === event).length
  }
}
