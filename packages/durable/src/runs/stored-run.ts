import { createHash } from 'node:crypto'
import type { ToolCall } from 'toolpost'
import type { DurableRunOptions } from 'toolpost/project'

/** A run as it is journalled before anything happens: all that another process needs to execute it. */
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
  /** Read-only or idempotent: may be executed again after a crash. */
  repeatable: boolean
  /** A person was asked before it was queued. */
  asked?: boolean | undefined
}

/** What runs are searched by. */
export interface RunAttributes {
  tool: string
  pool: string
  caller?: string | undefined
  origin?: string | undefined
  key?: string | undefined
  /** Hash of tool and arguments. */
  call: string
}

const MAX_ARGUMENT_BYTES = 1_000_000

/** Plain data, without values that JSON cannot express. Throws if it cannot be serialized or is too large. */
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
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    throw new Error(`the arguments exceed the limit of ${MAX_ARGUMENT_BYTES} bytes for durable calls`)
  return JSON.parse(text)
}

export function attributesOf(run: StoredRun): RunAttributes {
  const { tool, pool, caller, origin, key } = run
  return JSON.parse(JSON.stringify({ tool, pool, caller, origin, key, call: digest([tool, run.args ?? {}]) }))
}

/** The id of the run with this key: the same for the same caller and key. */
export function idOfKey(caller: string | undefined, key: string): string {
  return `run_${digest(['key', caller ?? null, key]).slice(0, 32)}`
}

/** Equal for equal values, whatever the order of their keys. */
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
