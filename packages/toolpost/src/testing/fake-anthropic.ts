import type { IncomingHttpHeaders } from 'node:http'
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

/** The body of a request to `/v1/messages`. */
export interface AnthropicRequest {
  model: string
  stream: boolean
  max_tokens: number
  system?: unknown
  messages: { role: string; content: string | AnthropicBlock[] }[]
  tools?: { name: string; description: string; input_schema: Record<string, unknown> }[]
  tool_choice?: { type: string }
}

export interface FakeAnthropicOptions {
  /** The only key that is accepted; any if left out. */
  apiKey?: string
  models?: readonly string[]
  replies?: Parameters<FakeModelServer<AnthropicRequest>['script']>
}

/** An HTTP server on loopback that speaks as Anthropic does: `/v1/messages` as SSE, refusing what Anthropic refuses. */
export function fakeAnthropic(
  options: FakeAnthropicOptions = {},
): Promise<FakeModelServer<AnthropicRequest>> {
  return startModelServer(anthropicFormat(options), options.replies ?? [])
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
    refuse(response, status, message) {
      const body = { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
    check(body, headers) {
      const refusal = keyProblem(headers, apiKey)
      if (refusal) return refusal
      if (models && !models.includes(body.model)) return { status: 404, message: `model: ${body.model}` }
      const message = requestProblem(body)
      return message === undefined ? undefined : { status: 400, message }
    },
    pieces: (reply, turn) => ({ head: { 'content-type': 'text/event-stream' }, ...events(reply, turn) }),
  }
}

function keyProblem(headers: IncomingHttpHeaders, apiKey: string | undefined) {
  const given = headers['x-api-key']
  const isAccepted = given !== undefined && (apiKey === undefined || given === apiKey)
  return isAccepted ? undefined : { status: 401, message: `invalid x-api-key: ${given}` }
}

/** The rules that a tool loop is most likely to break. */
function requestProblem({ messages, tools = [] }: AnthropicRequest): string | undefined {
  const blocks = messages.map(({ content }) => (typeof content === 'string' ? [] : content))
  const ids = blocks.flat().flatMap(block => (block.type === 'tool_use' ? [block.id] : []))
  if (ids.length > 0 && tools.length === 0)
    return 'Requests which include `tool_use` blocks must define tools'
  if (new Set(ids).size < ids.length) return '`tool_use` ids must be unique'
  if (blocks.flat().some(block => block.type === 'text' && block.text === ''))
    return 'text content blocks must be non-empty'
  const badTool = tools.find(tool => !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name))
  if (badTool) return `tools.name: String should match pattern: ${badTool.name}`
  const badSchema = tools.find(tool => tool.input_schema?.type !== 'object')
  if (badSchema) return `tools.${badSchema.name}.input_schema.type: Field required`
  return unansweredCall(blocks)
}

/** Every message with calls is followed by one that holds exactly their results. */
function unansweredCall(blocks: AnthropicBlock[][]): string | undefined {
  for (let at = 0; at < blocks.length; at++) {
    const calls = (blocks[at] ?? []).flatMap(block => (block.type === 'tool_use' ? [block.id] : []))
    const results = (blocks[at + 1] ?? []).flatMap(block =>
      block.type === 'tool_result' ? [block.tool_use_id] : [],
    )
    if (calls.some(id => !results.includes(id)))
      return '`tool_use` ids were found without `tool_result` blocks immediately after'
    if (results.some(id => !calls.includes(id)))
      return 'unexpected `tool_use_id` found in `tool_result` blocks'
  }
  return undefined
}

function events({ text = [], calls = [], error, stopReason }: FakeReply, turn: number) {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const pieces = typeof text === 'string' ? [text] : text
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'fake', content: [], usage }
  const first = [event('message_start', { message: { ...message, stop_reason: null } })]
  if (pieces.length > 0)
    first.push(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
  for (const piece of pieces)
    first.push(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } }))
  const closing = pieces.length > 0 ? [event('content_block_stop', { index: 0 })] : []
  const failure = { error: { type: 'overloaded_error', message: error } }
  if (error !== undefined) return { first, rest: [...closing, event('error', failure)] }
  const offset = pieces.length > 0 ? 1 : 0
  const reason = stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  const rest = [
    ...closing,
    ...calls.flatMap((call, number) =>
      callEvents(call, { index: offset + number, id: `toolu_${turn}_${number}` }, event),
    ),
    event('message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ]
  return { first, rest }
}

type Event = (type: string, more: object) => string

/** A call, its arguments in two halves as they come from a real stream. */
function callEvents(
  call: NonNullable<FakeReply['calls']>[number],
  { index, id }: { index: number; id: string },
  event: Event,
): string[] {
  const json = call.rawArgs === undefined ? JSON.stringify(call.args ?? {}) : String(call.rawArgs)
  const half = Math.ceil(json.length / 2)
  const block = { type: 'tool_use', id: call.id ?? id, name: call.name, input: {} }
  const delta = (partial_json: string) =>
    event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } })
  return [
    event('content_block_start', { index, content_block: block }),
    delta(json.slice(0, half)),
    delta(json.slice(half)),
    event('content_block_stop', { index }),
  ]
}
