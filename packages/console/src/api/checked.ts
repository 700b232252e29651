import type {
  Approval,
  BreakerStatus,
  CallRecord,
  ChatCall,
  ChatEnd,
  OpenQuestion,
  ServerStatus,
  ToolInfo,
  ToolResult,
} from 'toolpost/gateway'
import { isRecord } from './guards.ts'

/*
 * Accepts only entries with the fields that the page needs: one malformed tool, server or event must not hide the
 * others.
 */

export function toolsIn(value: unknown): ToolInfo[] {
  return listOf(value)
    .filter(one => has(one, { name: 'string' }))
    .map(tool => ({
      ...tool,
      description: textOf(tool.description),
      source: textOf(tool.source) || 'local',
      signature: textOf(tool.signature),
      schema: isRecord(tool.schema) ? tool.schema : {},
    })) as ToolInfo[]
}

export function serversIn(value: unknown): ServerStatus[] {
  const found = listOf(value).filter(one => has(one, { name: 'string', state: 'string' }))
  return found.map(server => ({
    ...server,
    tools: listOf(server.tools).filter(tool => typeof tool === 'string'),
    stderr: textOf(server.stderr),
    breaker: breakerIn(server.breaker),
  })) as ServerStatus[]
}

function breakerIn(value: unknown): BreakerStatus | undefined {
  if (!has(value, { state: 'string', failures: 'number' })) return undefined
  const { state, failures, retryAt, error } = value
  const known = { state, failures, retryAt: textOf(retryAt), error: textOf(error) }
  return known as BreakerStatus
}

export function callsIn(value: unknown): CallRecord[] {
  const needed = { serial: 'string', tool: 'string', source: 'string', startedAt: 'number' }
  return listOf(value)
    .filter(one => has(one, needed))
    .map(({ result, notes, ...call }) => ({
      ...call,
      ...(isRecord(notes) && { notes }),
      ...(isResult(result) && { result }),
    })) as unknown as CallRecord[]
}

export function questionsIn(value: unknown): OpenQuestion[] {
  const found = listOf(value).filter(one =>
    has(one, { id: 'string', message: 'string', expiresAt: 'number' }),
  )
  return found.map(({ schema, url, server, tool, caller, ...question }) => ({
    ...question,
    ...(isRecord(schema) && { schema }),
    ...(typeof url === 'string' && { url }),
    ...(typeof server === 'string' && { server }),
    ...(typeof tool === 'string' && { tool }),
    ...(typeof caller === 'string' && { caller }),
    secretFields: listOf(question.secretFields).filter(name => typeof name === 'string'),
  })) as unknown as OpenQuestion[]
}

export function approvalsIn(value: unknown): Approval[] {
  const found = listOf(value).filter(one => has(one, { id: 'string', tool: 'string', expiresAt: 'number' }))
  return found.map(approval => ({
    ...approval,
    server: textOf(approval.server),
    origin: textOf(approval.origin),
    caller: textOf(approval.caller),
    because: textOf(approval.because),
  })) as unknown as Approval[]
}

export function chatCallIn(value: unknown): ChatCall | undefined {
  if (!has(value, { id: 'string', name: 'string' })) return undefined
  const { result, ...call } = value
  return (isResult(result) ? { ...call, result } : call) as unknown as ChatCall
}

export function chatEndIn(value: unknown): ChatEnd | undefined {
  return has(value, { text: 'string', conversation: 'string' }) ? (value as unknown as ChatEnd) : undefined
}

export function isResult(value: unknown): value is ToolResult {
  if (!has(value, { success: 'boolean', tool_name: 'string', execution_time_ms: 'number' })) return false
  return value.success === true || has(value, { error: 'string', code: 'string' })
}

export function has(value: unknown, types: Record<string, string>): value is Record<string, unknown> {
  return isRecord(value) && Object.entries(types).every(([name, type]) => typeof value[name] === type)
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
