import {
  type FakeModelServer,
  type FakeReply,
  startModelServer,
  type WireFormat,
} from './scripted-model-server.ts'

/** The body of a request to `/v1/chat/completions`. */
export interface OpenAiRequest {
  model: string
  stream: boolean
  messages: {
    role: string
    content: string | { type: string; text?: string; image_url?: { url: string } }[] | null
    tool_calls?: { id: string; function: { name: string; arguments: string } }[]
    tool_call_id?: string
  }[]
  tools?: { type: string; function: { name: string; description: string; parameters: object } }[]
}

export interface FakeOpenAiOptions {
  /** The only key accepted; any, or none, if left out. */
  apiKey?: string
  models?: readonly string[]
  replies?: Parameters<FakeModelServer<OpenAiRequest>['script']>
}

/** An HTTP server on loopback that behaves like OpenAI's API at `/v1`: chat completions, and the list of models. */
export function fakeOpenAi({
  apiKey,
  models = ['fake'],
  replies,
}: FakeOpenAiOptions = {}): Promise<FakeModelServer<OpenAiRequest>> {
  const data = models.map(id => ({ id, object: 'model' }))
  const format: WireFormat<OpenAiRequest> = {
    path: '/v1/chat/completions',
    contentType: ({ stream }) => (stream ? 'text/event-stream' : 'application/json'),
    refusal: message => ({ error: { message, type: 'invalid_request_error' } }),
    check(body, { authorization }) {
      if (apiKey !== undefined && authorization !== `Bearer ${apiKey}`)
        return { status: 401, error: `Incorrect API key provided: ${authorization}` }
      if (!models.includes(body.model))
        return { status: 404, error: `The model '${body.model}' does not exist` }
      const error = requestProblem(body)
      return error === undefined ? undefined : { status: 400, error }
    },
    pieces: (reply, turn, { stream }) => (stream ? events(reply, turn) : completion(reply, turn)),
    other: path =>
      path === '/v1/models'
        ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ object: 'list', data }) }
        : undefined,
  }
  return startModelServer(format, replies)
}

/** The rules a tool loop is most likely to break. */
function requestProblem({ messages, tools = [] }: OpenAiRequest): string | undefined {
  const names = [
    ...tools.map(tool => tool.function.name),
    ...messages.flatMap(({ tool_calls = [] }) => tool_calls.map(call => call.function.name)),
  ]
  if (names.some(name => !/^[a-zA-Z0-9_-]{1,64}$/.test(name)))
    return "Invalid 'tools[0].function.name': string does not match pattern"
  for (const [at, { tool_calls = [] }] of messages.entries()) {
    const results = messages.slice(at + 1, at + 1 + tool_calls.length)
    if (tool_calls.some(({ id }) => !results.some(result => result.tool_call_id === id)))
      return "An assistant message with 'tool_calls' must be followed by tool messages"
  }
  return undefined
}

function completion({ text = [], calls = [], stopReason }: FakeReply, turn: number) {
  const tool_calls = calls.map(({ name, args = {}, id = '' }, index) => ({
    id: id || `call_${turn}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const content = [text].flat().join('')
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls }) }
  const finish_reason = stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const whole = { id: `chatcmpl-${turn}`, object: 'chat.completion', created: 0, model: 'fake', usage }
  return { first: [JSON.stringify({ ...whole, choices: [{ index: 0, message, finish_reason }] })], rest: [] }
}

function events({ text = [], calls = [], error, stopReason }: FakeReply, turn: number) {
  const event = (more: object) =>
    `data: ${JSON.stringify({ id: `chatcmpl-${turn}`, object: 'chat.completion.chunk', model: 'fake', ...more })}\n\n`
  const delta = (content: object, finish_reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: content, finish_reason }] })
  const spoken = [text].flat().map(content => delta({ content }))
  const called = calls.flatMap(({ name, args = {}, rawArgs, id }, index) => {
    const json = rawArgs === undefined ? JSON.stringify(args) : String(rawArgs)
    const half = Math.ceil(json.length / 2)
    const start = {
      index,
      id: id ?? `call_${turn}_${index}`,
      type: 'function',
      function: { name, arguments: json.slice(0, half) },
    }
    return [
      delta({ tool_calls: [start] }),
      delta({ tool_calls: [{ index, function: { arguments: json.slice(half) } }] }),
    ]
  })
  const end = [
    ...called,
    delta({}, stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    'data: [DONE]\n\n',
  ]
  const failure = `data: ${JSON.stringify({ error: { message: error, type: 'server_error' } })}\n\n`
  return {
    first: [delta({ role: 'assistant', content: '' }), ...spoken],
    rest: error === undefined ? end : [failure],
  }
}
