import { createHash } from 'node:crypto'
import type { ToolCall } from 'toolpost'
import type { DurableRunOptions } from 'toolpost/project'

/** A run as it is journalled before anything happens: all that another process needs to carry it out. */
export interface StoredRun {
  tool: string
  args?: unknown
  call_id?: string | undefined
  origin?: string | undefined
  caller?: string | undefined
  timeout_ms?: number | undefined
  repair?: boolean | undefined
  meta?: Readonly<Record<string, unknown>> | undefined
  key?: string | undefined
  pool: string
  /** Read-only or idempotent: may be carried out again after a crash. */
  repeatable: boolean
  /** A person was asked before it was let into a queue. */
  asked?: boolean | undefined
}

/** What runs are found by. */
export interface RunAttributes {
  tool: string
  pool: string
  caller?: string | undefined
  origin?: string | undefined
  key?: string | undefined
  /** Of tool and arguments. */
  call: string
}

const MAX_ARGUMENT_BYTES = 1_000_000

/** Plain data, without what JSON has no form for. Throws if there is no JSON of it, or too much. */
export function storedRun(
  call: ToolCall,
  options: DurableRunOptions,
  { pool, repeatable }: Pick<StoredRun, 'pool' | 'repeatable'>,
): StoredRun {
  const { origin, caller, timeoutMs, repair, meta, key } = options
  const asked = options.approval !== undefined || undefined
  const run: StoredRun = {
    tool: call.name,
    args: call.args,
    call_id: call.id,
    ...{ origin, caller, timeout_ms: timeoutMs, repair, meta, key, pool, repeatable, asked },
  }
  const text = JSON.stringify(run)
  if (text.length > MAX_ARGUMENT_BYTES)
    throw new Error(
      `its arguments are larger than the ${MAX_ARGUMENT_BYTES} bytes that are kept of a durable call`,
    )
  return JSON.parse(text)
}

export function attributesOf(run: StoredRun): RunAttributes {
  const { tool, pool, caller, origin, key } = run
  return JSON.parse(JSON.stringify({ tool, pool, caller, origin, key, call: digest([tool, run.args ?? {}]) }))
}

/** The id of the run of a key: the same for the same caller and key, and impossible to guess from them. */
export function idOfKey(caller: string | undefined, key: string): string {
  return `run_${digest(['key', caller ?? null, key]).slice(0, 32)}`
}

/** The same for the same value, whatever the order of its keys. */
function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex')
}

/** JSON with sorted keys. Its depth is bounded by what `JSON.stringify` could write. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
