import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { waitUntil } from './processes.ts'

/** One thing that happened at a server, written by the server itself. */
export interface Entry {
  /** Milliseconds since 1970. */
  at: number
  pid: number
  what: 'start' | 'list' | 'call' | 'effect' | 'fault' | 'answer' | 'cancelled' | 'child' | 'fetch'
  tool?: string
  key?: string
  args?: Record<string, unknown>
  /** Which fault; the size of the arguments; the port of a server; the process id of a child. */
  detail?: string | number
}

/** Appends to the ledger before anything else happens, so that even SIGKILL cannot lose it. */
export function note(file: string, entry: Omit<Entry, 'at' | 'pid'>): void {
  const full: Entry = { at: Date.now(), pid: process.pid, ...entry }
  appendFileSync(file, `${JSON.stringify(full)}\n`)
}

export class Ledger {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  /** All entries of a kind, for a key if one is given. */
  entries(what: Entry['what'], key?: string): Entry[] {
    const text = existsSync(this.file) ? readFileSync(this.file, 'utf8') : ''
    // The last line may not be whole yet.
    const lines = text.split('\n').slice(0, -1)
    const all = lines.map((line): Entry => JSON.parse(line))
    return all.filter(entry => entry.what === what && (key === undefined || entry.key === key))
  }

  /** Waits for the first entry of a kind; undefined if there is none in time. */
  async wait(what: Entry['what'], key: string | undefined, withinMs: number): Promise<Entry | undefined> {
    await waitUntil(() => this.entries(what, key).length > 0, withinMs)
    return this.entries(what, key)[0]
  }

  /** Every server process, and every child that one started. */
  pids(): number[] {
    const servers = this.entries('start').map(({ pid }) => pid)
    return [...servers, ...this.entries('child').map(({ detail }) => Number(detail))]
  }
}
