// What a case may do and ask. The judge believes the ledger, never the executor.
import { setTimeout as pause } from 'node:timers/promises'
import type { CallOptions, Driver, Outcome } from './driver.ts'
import type { Entry, Ledger } from './ledger.ts'

/** The executor did wrong; the message is what was seen. */
export class CaseFailure extends Error {}

export type Args = Record<string, unknown>

/** An outcome, and when it was there, in milliseconds since 1970. */
export interface Answer extends Outcome {
  endedAt: number
}

interface Options extends Partial<CallOptions> {
  withinMs?: number
}

interface TrialParts {
  driver: Driver
  ledger: Ledger
  /** How many times slower than idle the machine is. */
  slowness: number
  /** Why the driver could not be started, if the case allows that. */
  startError: string | undefined
  warnings: string[]
  restartServer: () => Promise<string>
}

/** How the message begins if a driver does not answer in time. */
export const NO_ANSWER = 'the driver did not answer'
/** How long any call may take, if a case does not say. */
const PATIENCE_MS = 8_000
/** How much later than before other calls may be answered. */
const DELAY_MS = 250
/** How long it is measured how quick calls are otherwise, and the pause between these calls. */
const QUIET_MS = 250
const PROBE_MS = 10
let serial = 0

export class Trial {
  readonly parts: TrialParts

  constructor(parts: TrialParts) {
    this.parts = parts
  }

  /** A key that no other call has: the ledger tells by it which call an entry belongs to. */
  key(): string {
    return `k${++serial}`
  }

  /** Calls a tool. What the driver throws is an outcome; no answer in time fails the case. */
  async call(
    tool: string,
    args: Args,
    { withinMs = PATIENCE_MS, ...options }: Options = {},
  ): Promise<Answer> {
    const { signal = new AbortController().signal } = options
    const calling = Promise.resolve()
      .then(() => this.parts.driver.call(tool, args, { ...options, signal }))
      .catch((error: unknown): Outcome => ({ ok: false, text: messageOf(error) }))
    const outcome = await within(withinMs, calling, `${NO_ANSWER} to '${tool}'`)
    return { ...outcome, text: String(outcome.text), endedAt: Date.now() }
  }

  async stop(): Promise<void> {
    await within(15_000, this.parts.driver.stop(), `${NO_ANSWER} to 'stop'`)
  }

  /** Calls at once, with one key; returns the wrong answers. */
  async burst(
    count: number,
    { key = this.key(), ...options }: Options & { key?: string } = {},
  ): Promise<string[]> {
    const texts = Array.from({ length: count }, (_, n) => `${key}-${n}`)
    const answers = await Promise.all(texts.map(text => this.call('repeat', { key, text }, options)))
    return answers.filter(({ ok, text }, n) => !ok || text !== texts[n]).map(shown)
  }

  /** Fails the case unless `isTrue`. */
  check(isTrue: boolean, seen: string): void {
    if (!isTrue) throw new CaseFailure(seen)
  }

  succeeded(answer: Answer, text: string | RegExp = ''): void {
    this.check(answer.ok, `an error: ${shown(answer)}`)
    this.says(answer, text)
  }

  failed(answer: Answer, text: string | RegExp = ''): void {
    this.check(!answer.ok, `success: ${shown(answer)}`)
    this.says(answer, text)
  }

  says(answer: Outcome, text: string | RegExp): void {
    const all = `${answer.text} ${JSON.stringify(answer.structured ?? null)}`
    const isThere = typeof text === 'string' ? all.includes(text) : text.test(all)
    this.check(isThere, `the answer does not say '${text}': ${shown(answer)}`)
  }

  /** The bound is for an idle machine, and scaled by how slow this one is. */
  took(ms: number, boundMs: number, what: string): void {
    const allowed = Math.round(boundMs * this.parts.slowness)
    this.check(ms <= allowed, `${what} took ${Math.round(ms)} ms (allowed: ${allowed} ms)`)
  }

  count(what: Entry['what'], key?: string): number {
    return this.parts.ledger.entries(what, key).length
  }

  /** Waits for an entry that the fault consists of: without it the case shows nothing, which is the suite's mistake. */
  async happened(what: Entry['what'], key?: string): Promise<Entry> {
    const entry = await this.parts.ledger.wait(what, key, 3_000)
    if (!entry) throw new Error(`the fault did not happen: no '${what}' in the ledger`)
    return entry
  }

  async healthy(): Promise<void> {
    const [wrong] = await this.burst(1)
    this.check(wrong === undefined, `the next call got: ${wrong}`)
  }

  /** Calls until `isDone` with the answer, for a limited time. */
  async eventually(
    tool: string,
    args: Args,
    isDone: (answer: Answer) => boolean,
    withinMs: number,
  ): Promise<void> {
    const until = Date.now() + withinMs
    for (;;) {
      const answer = await this.call(tool, args)
      if (isDone(answer)) return
      this.check(Date.now() < until, `after ${withinMs} ms still: ${shown(answer)}`)
      await pause(50)
    }
  }

  /** Makes other calls all the while; they must be answered, and none may take much longer than just before. */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    const quietMs = await this.#worstMsWhile(pause(QUIET_MS))
    // It begins during the first pause.
    const working = pause(PROBE_MS / 2).then(work)
    const busyMs = await this.#worstMsWhile(working)
    this.took(busyMs - quietMs, DELAY_MS, 'another call')
    return working
  }

  async #worstMsWhile(work: Promise<unknown>): Promise<number> {
    const isDone = work.then(() => true)
    let worstMs = 0
    for (;;) {
      // The pause counts as well, even the last one: whoever blocks this process delays it.
      const from = performance.now()
      const isLast = await Promise.race([isDone, pause(PROBE_MS)])
      const [wrong] = isLast ? [] : await this.burst(1, { withinMs: 25_000, timeoutMs: 20_000 })
      this.check(wrong === undefined, `another call got: ${wrong}`)
      worstMs = Math.max(worstMs, performance.now() - from)
      if (isLast) return worstMs
    }
  }
}

/** Fails the case if it takes longer. */
export async function within<T>(ms: number, work: Promise<T>, seen: string): Promise<T> {
  const timer = new AbortController()
  const late = pause(ms, undefined, { signal: timer.signal }).then(
    () => Promise.reject(new CaseFailure(`${seen} after ${ms} ms`)),
    () => work,
  )
  return Promise.race([work, late]).finally(() => timer.abort())
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause ? `${error.message}: ${messageOf(error.cause)}` : error.message.trim()
}

function shown({ ok, text }: Outcome): string {
  return `${ok ? 'ok' : 'error'} ${JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text)}`
}
