import type { BreakerStatus } from '../call/breaker-status.ts'
import type { ToolFailure, ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { unavailable } from '../executor/failure.ts'
import { DEFAULT_TIMEOUT_MS } from '../executor/options.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { quietly } from '../runtime/quietly.ts'
import { refusal } from './refuse.ts'
import { wholeNumber } from './whole-number.ts'

export type { BreakerStatus }

export interface BreakerOptions {
  /** After this many consecutive failures, a server's calls fail immediately; 5 if left out. */
  failures?: number | undefined
  /** How long until one call is let through; 10 s if left out. */
  coolDownMs?: number | undefined
  /** Called when a server's breaker opens or closes. */
  onChange?: ((server: string) => void) | undefined
  clock?: Clock | undefined
}

/** An interceptor that also reports the state of the servers. */
export interface Breaker extends Interceptor {
  status(server: string): BreakerStatus
  /** Forgets a server's failures, because it was restarted. */
  reset(server: string): void
}

const DEFAULT_FAILURES = 5
const DEFAULT_COOL_DOWN_MS = 10_000
/** Codes that say nothing about the server. */
const NEUTRAL: readonly string[] = ['cancelled', 'denied', 'limited']

/**
 * A circuit breaker per server: after several consecutive `unavailable` or `timeout`, its calls fail immediately for a
 * while; then one is let through, and if it succeeds, all are.
 */
export function breaker(options: BreakerOptions = {}): Breaker {
  const { clock = systemClock } = options
  const circuits = new Circuits(options, clock)
  async function breaker(call: CallContext, next: Next): Promise<ToolResult> {
    const { server } = call
    if (server === undefined || call.failure || call.dryRun) return next()
    const circuit = circuits.openOf(server)
    if (!circuit) return circuits.note(server, call, await next())
    if (circuit.isProbing || clock.now() < circuit.retryAt) return refuse(call, circuit, clock)
    circuit.isProbing = true
    try {
      return circuits.note(server, call, await next(), circuit)
    } finally {
      circuit.isProbing = false
    }
  }
  return Object.assign(breaker, {
    status: (server: string) => circuits.status(server),
    reset: (server: string) => circuits.reset(server),
  })
}

/** State of a failing server. A working server has none. */
interface Circuit {
  readonly server: string
  failures: number
  error: string
  /** Who got that error: it is not shown to other callers. */
  caller: string | undefined
  /** `CLOSED`, infinitely long ago, while it is closed. */
  retryAt: number
  isProbing: boolean
}

const CLOSED = Number.NEGATIVE_INFINITY

class Circuits {
  readonly #clock: Clock
  readonly #failures: number
  readonly #coolDownMs: number
  readonly #onChange: (server: string) => void
  readonly #circuits = new Map<string, Circuit>()

  constructor(options: BreakerOptions, clock: Clock) {
    this.#clock = clock
    this.#failures = wholeNumber(options.failures ?? DEFAULT_FAILURES, 1, 'breaker.failures')
    this.#coolDownMs = wholeNumber(options.coolDownMs ?? DEFAULT_COOL_DOWN_MS, 0, 'breaker.coolDownMs')
    this.#onChange = server => quietly(() => options.onChange?.(server))
  }

  /** The circuit of a server, if it is open. */
  openOf(server: string): Circuit | undefined {
    const circuit = this.#circuits.get(server)
    return circuit?.retryAt === CLOSED ? undefined : circuit
  }

  /** Records how a call ended. While the circuit is open, only the call that was let through counts. */
  note(server: string, call: CallContext, result: ToolResult, probed?: Circuit): ToolResult {
    if (this.openOf(server) !== probed || isImpatient(call, result)) return result
    if (!result.success && (result.code === 'unavailable' || result.code === 'timeout'))
      this.#fail(server, call, result.error)
    else if (result.success || !NEUTRAL.includes(result.code)) this.#close(server)
    return result
  }

  reset(server: string): void {
    this.#circuits.delete(server)
  }

  status(server: string): BreakerStatus {
    const circuit = this.#circuits.get(server)
    if (!circuit) return { state: 'closed', failures: 0 }
    const { failures, error, retryAt } = circuit
    const inMs = retryAt - this.#clock.now()
    if (retryAt === CLOSED) return { state: 'closed', failures, error }
    if (inMs <= 0) return { state: 'half-open', failures, error }
    return { state: 'open', failures, error, retryAt: new Date(Date.now() + inMs).toISOString() }
  }

  #fail(server: string, { caller }: CallContext, error: string): void {
    const circuit = this.#circuits.get(server) ?? {
      server,
      failures: 0,
      error,
      caller,
      retryAt: CLOSED,
      isProbing: false,
    }
    this.#circuits.set(server, circuit)
    circuit.failures++
    circuit.error = error
    circuit.caller = caller
    if (circuit.failures < this.#failures) return
    circuit.retryAt = this.#clock.now() + this.#coolDownMs
    this.#onChange(server)
  }

  #close(server: string): void {
    const wasOpen = this.openOf(server) !== undefined
    this.#circuits.delete(server)
    if (wasOpen) this.#onChange(server)
  }
}

/** A caller's own deadline, shorter than the tool's, says nothing about the server. */
function isImpatient({ timeoutMs, tool }: CallContext, result: ToolResult): boolean {
  if (result.success || result.code !== 'timeout' || timeoutMs === undefined) return false
  return timeoutMs < (tool?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
}

function refuse(call: CallContext, circuit: Circuit, clock: Clock): ToolFailure {
  const { server, failures, error, caller, retryAt, isProbing } = circuit
  const inMs = Math.max(0, retryAt - clock.now())
  const next = isProbing ? 'a trial call is in progress' : `next attempt in ${Math.ceil(inMs / 1_000)} s`
  const cause = `the last ${failures} calls to server '${server}' failed, so calls are paused; ${next}`
  const failure = unavailable(call.name, cause)
  return {
    ...refusal(call, failure.code, failure.error),
    ...(call.caller === caller && { diagnosis: { causes: [error] } }),
    ...(!isProbing && { retry_after_ms: Math.ceil(inMs) }),
  }
}
