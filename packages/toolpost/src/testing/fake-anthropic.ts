import {
  type FakeModelServer,
  type FakeReply,
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
  replies?: Parameters<FakeModelServer<AnthropicRequest>['script']>
}

/** An HTTP server on loopback that behaves like Anthropic: `/v1/messages` as SSE, rejecting what Anthropic rejects. */
export function fakeAnthropic(
  options: FakeAnthropicOptions = {},
): Promise<FakeModelServer<AnthropicRequest>> {
  return startModelServer(anthropicFormat(options), options.replies)
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
}

function anthropicFormat({ apiKey, models }: FakeAnthropicOptions): WireFormat<AnthropicRequest> {
  return {
    path: '/v1/messages',
    contentType: 'text/event-stream',
    refusal: (message, status) => ({
      type: 'error',
      error: { type: ERROR_TYPES[status] ?? 'api_error', message },
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
  const names = [...tools, ...blocks.flat().filter(block => block.type === 'tool_use')].map(
    ({ name }) => name,
  )
  const badName = names.find(name => !/^[a-zA-Z0-9_-]{1,128}$/.test(name ?? ''))
  if (badName !== undefined) return `tools.name: String should match pattern: ${badName}`
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

function events({ text = [], calls = [], error, stopReason }: FakeReply, turn: number) {
  const texts = [text].flat().map(piece => ({ type: 'text_delta', text: piece }))
  const spoken = texts.length > 0 ? block(0, { type: 'text', text: '' }, texts) : []
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'fake', content: [], usage }
  const start = event('message_start', { message: { ...message, stop_reason: null } })
  const stop_reason = stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  const failure = event('error', { error: { type: 'overloaded_error', message: error } })
  const end = [
    ...calls.flatMap((call, at) => callBlock(call, Math.min(1, texts.length) + at, `toolu_${turn}_${at}`)),
    event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ]
  return {
    first: [start, ...spoken.slice(0, -1)],
    rest: [...spoken.slice(-1), ...(error === undefined ? end : [failure])],
  }
}

/** A call with its arguments in two halves, as in a real stream. */
function callBlock(call: NonNullable<FakeReply['calls']>[number], index: number, id: string): string[] {
  const json = call.rawArgs === undefined ? JSON.stringify(call.args ?? {}) : String(call.rawArgs)
  const half = Math.ceil(json.length / 2)
  const halves = [json.slice(0, half), json.slice(half)]
  return block(
    index,
    { type: 'tool_use', id: call.id ?? id, name: call.name, input: {} },
    halves.map(partial_json => ({ type: 'input_json_delta', partial_json })),
  )
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
