import * as server from './scripted-model-server.ts'

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
  replies?: readonly server.NextReply<OpenAiRequest>[]
}

/** An HTTP server on loopback that behaves like OpenAI's API at `/v1`: chat completions, and the list of models. */
export function fakeOpenAi({ apiKey, models = ['fake'], replies }: FakeOpenAiOptions = {}) {
  const data = models.map(id => ({ id, object: 'model' }))
  const format: server.WireFormat<OpenAiRequest> = {
    path: '/v1/chat/completions',
    contentType: 'text/event-stream',
    refusal: message => ({ error: { message, type: 'invalid_request_error' } }),
    check(body, { authorization }) {
      if (apiKey !== undefined && authorization !== `Bearer ${apiKey}`)
        return { status: 401, error: `Incorrect API key provided: ${authorization}` }
      if (!models.includes(body.model))
        return { status: 404, error: `The model '${body.model}' does not exist` }
      const error = requestProblem(body)
      return error === undefined ? undefined : { status: 400, error }
    },
    pieces: events,
    whole: completion,
    other: path => (path === '/v1/models' ? server.jsonReply({ object: 'list', data }) : undefined),
  }
  return server.startModelServer(format, replies)
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

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

function completion({ texts, calls, stopReason }: server.ScriptedReply, turn: number): object {
  const tool_calls = calls.map(({ name, halves, id }) => {
    return { id, type: 'function', function: { name, arguments: halves.join('') } }
  })
  const message = { role: 'assistant', content: texts.join(''), ...(calls.length > 0 && { tool_calls }) }
  const finish_reason = stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const about = { id: `chatcmpl-${turn}`, object: 'chat.completion', created: 0, model: 'fake', usage: USAGE }
  return { ...about, choices: [{ index: 0, message, finish_reason }] }
}

function events({ texts, calls, error, stopReason }: server.ScriptedReply, turn: number) {
  const send = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const event = (more: object) =>
    send({ id: `chatcmpl-${turn}`, object: 'chat.completion.chunk', model: 'fake', ...more })
  const delta = (content: object, finish_reason: string | null = null) =>
    event({ choices: [{ index: 0, delta: content, finish_reason }] })
  const called = calls.flatMap(({ name, halves: [start, rest], id }, index) => [
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: start } }] }),
    delta({ tool_calls: [{ index, function: { arguments: rest } }] }),
  ])
  const end = [
    ...called,
    delta({}, stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    event({ choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ]
  return {
    first: [delta({ role: 'assistant', content: '' }), ...texts.map(content => delta({ content }))],
    rest: error === undefined ? end : [send({ error: { message: error, type: 'server_error' } })],
  }
}
