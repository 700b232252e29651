import {
  type FakeModelServer,
  type FakeReply,
  startModelServer,
  type WireFormat,
} from './scripted-model-server.ts'

/** The body of a request to `/api/chat`. */
export interface OllamaRequest {
  model: string
  stream: boolean
  messages: {
    role: string
    content: string
    tool_calls?: { id?: string; function: { name: string; arguments: unknown } }[]
  }[]
  tools?: { type: string; function: { name: string; description: string; parameters: object } }[]
}

export interface FakeOllamaOptions {
  /** What is installed, with the capabilities that `/api/show` tells. */
  models?: Record<string, readonly string[]>
  replies?: Parameters<FakeModelServer<OllamaRequest>['script']>
}

const DEFAULT_MODELS = { 'qwen3:0.6b': ['completion', 'tools', 'thinking'] }

/** An HTTP server on loopback that speaks as Ollama does: `/api/chat` as NDJSON, `/api/tags` and `/api/show`. */
export function fakeOllama({
  models = DEFAULT_MODELS,
  replies,
}: FakeOllamaOptions = {}): Promise<FakeModelServer<OllamaRequest>> {
  return startModelServer(ollamaFormat(new Map(Object.entries(models))), replies)
}

/** The capabilities of what is installed. */
type Models = ReadonlyMap<string, readonly string[]>

function ollamaFormat(models: Models): WireFormat<OllamaRequest> {
  const names = [...models.keys()]
  return {
    path: '/api/chat',
    contentType: 'application/x-ndjson',
    refusal: error => ({ error }),
    check: body => problemIn(body, models),
    pieces: lines,
    other(path, body) {
      if (path === '/api/tags') return json({ models: names.map(name => ({ name, model: name })) })
      if (path !== '/api/show') return undefined
      const { model = '' } = body as { model?: string }
      const capabilities = models.get(model)
      return capabilities ? json({ capabilities }) : notFound(model)
    },
  }
}

function json(value: object): FakeReply {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function notFound(model: string): FakeReply {
  return { status: 404, error: `model '${model}' not found` }
}

function problemIn({ model, tools, messages }: OllamaRequest, models: Models): FakeReply | undefined {
  const capabilities = models.get(model)
  if (!capabilities) return notFound(model)
  if (tools && tools.length > 0 && !capabilities.includes('tools'))
    return { status: 400, error: `registry.ollama.ai/library/${model} does not support tools` }
  const bad = messages.find(message =>
    message.tool_calls?.some(call => typeof call.function.arguments !== 'object'),
  )
  return bad && { status: 400, error: 'json: cannot unmarshal string into ToolCallFunctionArguments' }
}

function lines({ text = [], calls = [], error, stopReason = 'stop' }: FakeReply) {
  const line = (entry: object) =>
    `${JSON.stringify({ model: 'fake', created_at: '2026-01-01T00:00:00Z', ...entry })}\n`
  const message = (more: object) => ({ message: { role: 'assistant', content: '', ...more } })
  const first = (typeof text === 'string' ? [text] : text).map(content =>
    line({ ...message({ content }), done: false }),
  )
  const tool_calls = calls.map(({ name, args = {}, rawArgs }) => ({
    function: { name, arguments: rawArgs === undefined ? args : rawArgs },
  }))
  const rest = tool_calls.length > 0 ? [line({ ...message({ tool_calls }), done: false })] : []
  const end = { done: true, done_reason: stopReason, prompt_eval_count: 10, eval_count: 5 }
  return { first, rest: [...rest, error === undefined ? line({ ...message({}), ...end }) : line({ error })] }
}
