import { randomUUID } from 'node:crypto'
import * as sdk from '@modelcontextprotocol/server'
import { INVALID_PARAMS, type Params, type RequestId, RpcError } from '../../mcp/peer.ts'
import { isRecord } from '../../util/guards.ts'
import { toolpostVersion } from '../../util/package-root.ts'
import type { Client } from '../clients.ts'
import { jsonText } from '../http.ts'
import { MAX_MCP_ANSWER_BYTES } from '../limits.ts'

/* What both protocols, 2026-07-28 and the ones of 2025, have in common here. */

export const NEWEST_VERSION = '2026-07-28'
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
export const SERVER_INFO = { name: 'toolpost', title: 'Toolpost', version: toolpostVersion() }

export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const NOT_FOUND = -32_002
export const MISSING_CAPABILITY = -32_021

export const LOG_LEVELS = 'debug info notice warning error critical alert emergency'.split(' ')

/** The kinds of lists that clients are told of when they change. */
export const LISTS = ['tools', 'resources', 'prompts'] as const

export type Session = ReturnType<typeof newSession>

/** A client of a 2025 protocol, from `initialize`, which sets its version, until it is gone. */
export function newSession(notify: (method: string, params?: object) => void) {
  return {
    id: randomUUID(),
    notify,
    lists: LISTS,
    capabilities: {} as sdk.ClientCapabilities,
    version: '',
    /** Its minimum log level. */
    level: 'info',
    /** How to stop following the resources it follows, by URI. */
    followed: new Map<string, () => void>(),
    /** The ids of its requests that are being answered, subscriptions aside; and the responses it listens to. */
    busyWith: new Set<RequestId | Response>(),
  }
}

/** A request of a client, in any protocol and over any transport. */
export interface McpRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: Params
  /** `_meta` of the params. */
  readonly meta: Params
  /** Aborts when the client cancels the request or goes away. */
  readonly caller: AbortController
  /** Whose request it is, with the rights of now; everything is allowed without one. */
  readonly client: Client | undefined
  /** Of the 2025 protocols; requests of the newest one stand alone. */
  readonly session: Session | undefined
  /** A header of its HTTP request. */
  header(name: string): string | undefined
  /** When it arrived, on the executor's clock. */
  readonly startedAt: number | undefined
  notify(method: string, params: object): void
  /** Asks the client back: not in the newest protocol. */
  request?(method: string, params: object, options: { signal: AbortSignal }): Promise<unknown>
}

export function metaIn({ _meta }: Params): Params {
  return isRecord(_meta) ? _meta : {}
}

export function capabilitiesOf({ meta, session }: McpRequest): sdk.ClientCapabilities {
  return session?.capabilities ?? (meta[sdk.CLIENT_CAPABILITIES_META_KEY] as sdk.ClientCapabilities) ?? {}
}

const SERVER_META = { [sdk.SERVER_INFO_META_KEY]: SERVER_INFO }
const CACHEABLE = /^((tools|prompts|resources|resources\/templates)\/list|resources\/read|server\/discover)$/

/** A result as the newest protocol requires it. */
export function newestResult(method: string, result: Params): Params {
  const { resultType = 'complete', _meta } = result
  const meta = isRecord(_meta) ? { ...SERVER_META, ..._meta } : SERVER_META
  const isCacheable = resultType === 'complete' && CACHEABLE.test(method)
  const hints = isCacheable ? { ttlMs: 0, cacheScope: 'private', ...result } : result
  return { ...hints, resultType, _meta: meta }
}

export function invalid(problem: string): RpcError {
  return new RpcError(`Invalid params: ${problem}`, { code: INVALID_PARAMS })
}

/** A message as text. Throws if it is too large. */
export function messageText(message: object): string {
  const text = jsonText(message)
  if (text.length <= MAX_MCP_ANSWER_BYTES) return text
  throw new RpcError(`The result is too large for MCP: ${text.length} bytes, at most ${MAX_MCP_ANSWER_BYTES}`)
}
