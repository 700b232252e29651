import { isRecord } from '../util/guards.ts'
import * as server from './scripted-model-server.ts'

/** The body of a request to `/api/chat`. */
export interface OllamaRequest {
  model: string
  stream: boolean
  think?: boolean
  keep_alive?: string | number
  options?: { num_ctx?: number }
  messages: {
    role: string
    content: string
    tool_calls?: { id?: string; function: { name: string; arguments: unknown } }[]
  }[]
  tools?: { type: string; function: { name: string; description: string; parameters: object } }[]
}

export interface FakeOllamaOptions {
  /** The installed models, with the capabilities `/api/show` reports. */
  models?: Record<string, readonly string[]>
  contextLength?: number
  /** Its models have to be loaded first: requests wait until this settles. */
  loading?: Promise<unknown>
  replies?: readonly server.NextReply<OllamaRequest>[]
}

const DEFAULT_MODELS = { 'qwen3:0.6b': ['completion', 'tools', 'thinking'] }

/** An HTTP server on loopback that behaves like Ollama: `/api/chat` as NDJSON, `/api/tags` and `/api/show`. */
export function fakeOllama(options: FakeOllamaOptions = {}) {
  const { contextLength, loading, replies } = options
  const models: Models = new Map(Object.entries(options.models ?? DEFAULT_MODELS))
  const listed = [...models.keys()].map(name => ({ name, model: name }))
  let isLoaded = loading === undefined
  const format: server.WireFormat<OllamaRequest> = {
    async ready() {
      await loading
      isLoaded = true
    },
    path: '/api/chat',
    contentType: 'application/x-ndjson',
    refusal: error => ({ error }),
    check: body => problemIn(body, models),
    pieces: lines,
    other(path, body) {
      if (path === '/api/tags') return server.jsonReply({ models: listed })
      if (path === '/api/ps') return server.jsonReply({ models: isLoaded ? listed : [] })
      if (path !== '/api/show') return undefined
      const { model = '' } = body as { model?: string }
      const capabilities = models.get(model)
      const model_info = contextLength === undefined ? {} : { 'fake.context_length': contextLength }
      return capabilities ? server.jsonReply({ capabilities, model_info }) : notFound(model)
    },
  }
  return server.startModelServer(format, replies)
}

type Models = ReadonlyMap<string, readonly string[]>

function notFound(model: string): server.FakeReply {
  return { status: 404, error: `model '${model}' not found` }
}

function problemIn({ model, tools, messages }: OllamaRequest, models: Models): server.FakeReply | undefined {
  const capabilities = models.get(model)
  if (!capabilities) return notFound(model)
  if (tools && tools.length > 0 && !capabilities.includes('tools'))
    return { status: 400, error: `registry.ollama.ai/library/${model} does not support tools` }
  const field = (tools ?? []).map(tool => badField(tool.function.parameters)).find(Boolean)
  if (field) return { status: 400, error: `json: cannot unmarshal value into Go struct field ${field}` }
  const bad = messages.find(message =>
    message.tool_calls?.some(call => typeof call.function.arguments !== 'object'),
  )
  return bad && { status: 400, error: 'json: cannot unmarshal string into ToolCallFunctionArguments' }
}

/** Ollama parses a schema into Go types; one mismatch fails the whole request. */
function badField(schema: unknown): string | undefined {
  if (!isRecord(schema)) return 'ToolProperty'
  const { type, required, properties, anyOf, enum: values } = schema
  if (type !== undefined && typeof type !== 'string') return 'ToolProperty.type of type string'
  for (const list of [required, anyOf, values])
    if (list !== undefined && !Array.isArray(list)) return 'ToolProperty.required of type []string'
  const inner = [...Object.values(properties ?? {}), ...((anyOf ?? []) as unknown[])]
  return inner.map(badField).find(Boolean)
}

function lines({ texts, calls, error, stopReason = 'stop' }: server.ScriptedReply) {
  const line = (entry: object) =>
    `${JSON.stringify({ model: 'fake', created_at: '2026-01-01T00:00:00Z', ...entry })}\n`
  const message = (more: object) => ({ message: { role: 'assistant', content: '', ...more }, done: false })
  const tool_calls = calls.map(({ name, args = {}, rawArgs }) => ({
    function: { name, arguments: rawArgs === undefined ? args : rawArgs },
  }))
  const called = tool_calls.length > 0 ? [line(message({ tool_calls }))] : []
  const end = { done: true, done_reason: stopReason, prompt_eval_count: 10, eval_count: 5 }
  const last = line(error === undefined ? { ...message({}), ...end } : { error })
  return { first: texts.map(content => line(message({ content }))), rest: [...called, last] }
}
