import type { BreakerStatus } from '../call/breaker-status.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor, Next } from '../executor/chain.ts'
import type { CallContext } from '../executor/context.ts'
import { unavailable } from '../executor/failure.ts'
import { DEFAULT_TIMEOUT_MS } from '../executor/options.ts'
import { failureResult } from '../executor/result.ts'
import { type Clock, systemClock } from '../util/clock.ts'
import { quietly } from '../util/quietly.ts'
import { wholeNumber } from './refuse.ts'

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

/** State of a failing server. A working server has none. */
interface Circuit {
  failures: number
  error: string
  /** Who got that error: it is not shown to other callers. */
  caller: string | undefined
  /** When a call is let through; `undefined` while the circuit is closed. */
  retryAt: number | undefined
  isProbing: boolean
}

/**
 * A circuit breaker per server: after several consecutive `unavailable` or `timeout`, its calls fail immediately for a
 * while; then one is let through, and if it succeeds, all are.
 */
export function breaker(options: BreakerOptions = {}): Breaker {
  const { clock = systemClock } = options
  const maxFailures = wholeNumber(options.failures ?? DEFAULT_FAILURES, 1, 'breaker.failures')
  const coolDownMs = wholeNumber(options.coolDownMs ?? DEFAULT_COOL_DOWN_MS, 0, 'breaker.coolDownMs')
  const circuits = new Map<string, Circuit>()
  const onChange = (server: string) => quietly(() => options.onChange?.(server))
  const openOf = (server: string) => {
    const circuit = circuits.get(server)
    return circuit?.retryAt === undefined ? undefined : circuit
  }

  /** Records how a call ended. While the circuit is open, only the call that was let through counts. */
  function note(server: string, call: CallContext, result: ToolResult, probed?: Circuit): void {
    const open = openOf(server)
    // How a durable run ended elsewhere says nothing about a server here: its worker may have been lost.
    const isElsewhere = !result.success && call.notes.run !== undefined
    if (open !== probed || isImpatient(call, result) || isElsewhere) return
    if (!result.success && (result.code === 'unavailable' || result.code === 'timeout')) {
      const { failures = 0, retryAt } = circuits.get(server) ?? {}
      const { caller } = call
      const circuit = { failures: failures + 1, error: result.error, caller, retryAt, isProbing: false }
      circuits.set(server, circuit)
      if (circuit.failures < maxFailures) return
      circuit.retryAt = clock.now() + coolDownMs
      onChange(server)
    } else if (result.success || !NEUTRAL.includes(result.code)) {
      circuits.delete(server)
      if (open) onChange(server)
    }
  }

  async function breaker(call: CallContext, next: Next): Promise<ToolResult> {
    const { server } = call
    if (server === undefined || call.failure || call.dryRun) return next()
    const circuit = openOf(server)
    if (circuit && (circuit.isProbing || clock.now() < (circuit.retryAt ?? 0)))
      return refuse(call, circuit, clock)
    if (circuit) circuit.isProbing = true
    try {
      const result = await next()
      note(server, call, result, circuit)
      return result
    } finally {
      if (circuit) circuit.isProbing = false
    }
  }

  function status(server: string): BreakerStatus {
    const { failures = 0, error, retryAt } = circuits.get(server) ?? {}
    const known = { failures, ...(error !== undefined && { error }) }
    if (retryAt === undefined) return { state: 'closed', ...known }
    const inMs = retryAt - clock.now()
    if (inMs <= 0) return { state: 'half-open', ...known }
    return { state: 'open', ...known, retryAt: new Date(Date.now() + inMs).toISOString() }
  }

  return Object.assign(breaker, { status, reset: (server: string) => void circuits.delete(server) })
}

/** A caller's own deadline, shorter than the tool's, says nothing about the server. */
function isImpatient({ timeoutMs, tool }: CallContext, result: ToolResult): boolean {
  if (result.success || result.code !== 'timeout' || timeoutMs === undefined) return false
  return timeoutMs < (tool?.timeoutMs ?? DEFAULT_TIMEOUT_MS)
}

function refuse(call: CallContext, circuit: Circuit, clock: Clock): ToolResult {
  const { failures, error, caller, retryAt = 0, isProbing } = circuit
  const inMs = Math.max(0, retryAt - clock.now())
  const next = isProbing ? 'a trial call is in progress' : `next attempt in ${Math.ceil(inMs / 1_000)} s`
  const cause = `the last ${failures} calls to server '${call.server}' failed, so calls are paused; ${next}`
  const diagnosis = call.caller === caller ? { causes: [error] } : undefined
  const retryAfterMs = isProbing ? undefined : inMs
  return failureResult({ ...unavailable(call.name, cause, diagnosis), retryAfterMs }, call)
}
