import * as server from './scripted-model-server.ts'

type AnthropicBlock = Partial<Record<'text' | 'id' | 'name' | 'tool_use_id', string>> & {
  type: string
  input?: unknown
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
  replies?: readonly server.NextReply<AnthropicRequest>[]
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** An HTTP server on loopback that behaves like Anthropic: `/v1/messages` as SSE, rejecting what Anthropic rejects. */
export function fakeAnthropic({ apiKey, models, replies }: FakeAnthropicOptions = {}) {
  const format: server.WireFormat<AnthropicRequest> = {
    path: '/v1/messages',
    contentType: 'text/event-stream',
    refusal(message, status) {
      const type = ERROR_TYPES[status] ?? 'api_error'
      return { type: 'error', error: { type, message } }
    },
    check(body, { 'x-api-key': key }) {
      if (key === undefined || (apiKey !== undefined && key !== apiKey))
        return { status: 401, error: `invalid x-api-key: ${key}` }
      if (models && !models.includes(body.model)) return { status: 404, error: `model: ${body.model}` }
      const error = requestProblem(body)
      return error === undefined ? undefined : { status: 400, error }
    },
    pieces: events,
  }
  return server.startModelServer(format, replies)
}

/** The rules a tool loop is most likely to break. */
function requestProblem({ messages, tools = [] }: AnthropicRequest): string | undefined {
  const turns = messages.map(({ content }) => (typeof content === 'string' ? [] : content))
  const uses = turns.flat().filter(({ type }) => type === 'tool_use')
  const bad = [...tools, ...uses].find(({ name = '' }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
  const isEmpty = turns.flat().some(({ type, text }) => type === 'text' && text === '')
  const problems = [
    uses.length > 0 && tools.length === 0 && 'Requests which include `tool_use` blocks must define tools',
    new Set(uses.map(({ id }) => id)).size < uses.length && '`tool_use` ids must be unique',
    isEmpty && 'text content blocks must be non-empty',
    bad && `tools.name: String should match pattern: ${bad.name}`,
    ...tools.map(schemaProblem),
    ...turns.map((own, at) => answerProblem(own, turns[at + 1] ?? [])),
  ]
  return problems.find(problem => typeof problem === 'string')
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

/** A message with calls must be followed by one with exactly their results. */
function answerProblem(own: AnthropicBlock[], after: AnthropicBlock[]): string | undefined {
  const calls = own.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
  const results = after.flatMap(({ type, tool_use_id: id }) => (type === 'tool_result' ? [id] : []))
  if (calls.some(id => !results.includes(id)))
    return '`tool_use` ids were found without `tool_result` blocks immediately after'
  const isStray = results.some(id => !calls.includes(id))
  return isStray ? 'unexpected `tool_use_id` found in `tool_result` blocks' : undefined
}

function events({ texts, calls, error, stopReason }: server.ScriptedReply, turn: number) {
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
