import { isSecretKey } from '../logging/redact.ts'
import { plainCopy } from '../runtime/plain-value.ts'
import { TRACE_KEYS, traceContext } from '../telemetry/trace-context.ts'
import { MAX_META_BYTES } from './limits.ts'

type Meta = Readonly<Record<string, unknown>>

/** Prefixes reserved by MCP: `io.modelcontextprotocol/`, `mcp.dev/`, `com.mcp.tools/` … */
const RESERVED = /^(?:[^./]+\.)?(?:modelcontextprotocol|mcp)[./]/
const LIMITS = { maxDepth: 50, maxEntries: 1_000, maxValues: 1_000, maxBytes: MAX_META_BYTES }

/**
 * The `_meta` for a server: the trace context, and whatever the caller passed for the server, if it is small. Leaves out
 * the protocol's own keys, which apply to one connection only, and keys that look like secrets.
 */
export function callMeta(meta: Meta): Meta | undefined {
  const trace = traceContext(key => (Object.hasOwn(meta, key) ? meta[key] : undefined))
  const keys = Object.keys(meta).filter(mayGoAlong)
  if (keys.length === 0) return trace as Meta | undefined
  const given = Object.fromEntries(keys.map(key => [key, meta[key]]))
  const { value, bytes, isComplete } = plainCopy(given, LIMITS)
  const isSmall = isComplete && bytes <= MAX_META_BYTES
  return isSmall ? { ...(value as Meta), ...trace } : (trace as Meta | undefined)
}

function mayGoAlong(key: string): boolean {
  if (key === 'progressToken' || key === '__proto__' || TRACE_KEYS.includes(key)) return false
  return !RESERVED.test(key) && !isSecretKey(key)
}
