import {
  type FakeModelServer,
  type NextReply,
  type ScriptedReply,
  startModelServer,
  type WireFormat,
} from './scripted-model-server.ts'

interface AnthropicBlock {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  tool_use_id?: string
  content?: unknown
  is_error?: boolean
}

interface AnthropicTool {
  name: string
  description: string
  input_schema: Record<string, unknown>
}

/** The body of a request to `/v1/messages`. */
export interface AnthropicRequest {
  model: string
  stream: boolean
  max_tokens: number
  system?: unknown
  messages: { role: string; content: string | AnthropicBlock[] }[]
  tools?: AnthropicTool[]
  tool_choice?: { type: string }
}

export interface FakeAnthropicOptions {
  /** The only key accepted; any if left out. */
  apiKey?: string
  models?: readonly string[]
  replies?: readonly NextReply<AnthropicRequest>[]
}

const ERROR_TYPES: Record<number, string> = {
  ...{ 400: 'invalid_request_error', 401: 'authentication_error', 404: 'not_found_error' },
  ...{ 429: 'rate_limit_error', 529: 'overloaded_error' },
}

/** An HTTP server on loopback that behaves like Anthropic: `/v1/messages` as SSE, rejecting what Anthropic rejects. */
export function fakeAnthropic({
  apiKey,
  models,
  replies,
}: FakeAnthropicOptions = {}): Promise<FakeModelServer<AnthropicRequest>> {
  const format: WireFormat<AnthropicRequest> = {
    path: '/v1/messages',
    contentType: 'text/event-stream',
    refusal: (message, status) => ({
      ...{ type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } },
    }),
    check(body, { 'x-api-key': key }) {
      if (key === undefined || (apiKey !== undefined && key !== apiKey))
        return { status: 401, error: `invalid x-api-key: ${key}` }
      if (models && !models.includes(body.model)) return { status: 404, error: `model: ${body.model}` }
      const error = requestProblem(body)
      return error === undefined ? undefined : { status: 400, error }
    },
    pieces: events,
  }
  return startModelServer(format, replies)
}

/** The rules a tool loop is most likely to break. */
function requestProblem({ messages, tools = [] }: AnthropicRequest): string | undefined {
  const blocks = messages.map(({ content }) => (typeof content === 'string' ? [] : content))
  const ids = blocks.flat().flatMap(block => (block.type === 'tool_use' ? [block.id] : []))
  if (ids.length > 0 && tools.length === 0)
    return 'Requests which include `tool_use` blocks must define tools'
  if (new Set(ids).size < ids.length) return '`tool_use` ids must be unique'
  if (blocks.flat().some(block => block.type === 'text' && block.text === ''))
    return 'text content blocks must be non-empty'
  const named = [...tools, ...blocks.flat().filter(block => block.type === 'tool_use')]
  const bad = named.find(({ name = '' }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
  if (bad) return `tools.name: String should match pattern: ${bad.name}`
  return tools.map(schemaProblem).find(problem => problem !== undefined) ?? unansweredCall(blocks)
}

/** Anthropic's complaint about a tool's schema. */
function schemaProblem({ name, input_schema: schema = {} }: AnthropicTool): string | undefined {
  const at = `tools.${name}.input_schema`
  if (schema.type !== 'object') return `${at}.type: Field required`
  if (['oneOf', 'allOf', 'anyOf'].some(key => key in schema))
    return `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`
  const badKey = Object.keys(schema.properties ?? {}).find(key => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
  return badKey && `${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`
}

/** Every message with calls must be followed by one with exactly their results. */
function unansweredCall(blocks: AnthropicBlock[][]): string | undefined {
  for (const [at, own] of blocks.entries()) {
    const calls = own.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
    const after = blocks[at + 1] ?? []
    const results = after.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []))
    if (calls.some(id => !results.includes(id)))
      return '`tool_use` ids were found without `tool_result` blocks immediately after'
    if (results.some(id => !calls.includes(id)))
      return 'unexpected `tool_use_id` found in `tool_result` blocks'
  }
  return undefined
}

function events({ texts, calls, error, stopReason }: ScriptedReply, turn: number) {
  const deltas = texts.map(text => ({ type: 'text_delta', text }))
  const spoken = deltas.length > 0 ? block(0, { type: 'text', text: '' }, deltas) : []
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'fake', content: [], usage }
  const start = event('message_start', { message: { ...message, stop_reason: null } })
  const stop_reason = stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  const failure = event('error', { error: { type: 'overloaded_error', message: error } })
  const called = calls.flatMap(({ id, name, halves }, at) => {
    const parts = halves.map(partial_json => ({ type: 'input_json_delta', partial_json }))
    return block(Math.min(1, texts.length) + at, { type: 'tool_use', id, name, input: {} }, parts)
  })
  const end = [
    ...called,
    event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ]
  return {
    first: [start, ...spoken.slice(0, -1)],
    rest: [...spoken.slice(-1), ...(error === undefined ? end : [failure])],
  }
}

function block(index: number, content_block: object, deltas: readonly object[]): string[] {
  return [
    event('content_block_start', { index, content_block }),
    ...deltas.map(delta => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}
