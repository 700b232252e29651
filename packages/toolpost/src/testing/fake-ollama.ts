import type { ServerResponse } from 'node:http'
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
  replies = [],
}: FakeOllamaOptions = {}): Promise<FakeModelServer<OllamaRequest>> {
  return startModelServer(ollamaFormat(models), replies)
}

function ollamaFormat(models: Record<string, readonly string[]>): WireFormat<OllamaRequest> {
  return {
    path: '/api/chat',
    refuse: (response, status, error) => json(response, { error }, status),
    check: body => problemIn(body, models),
    pieces: reply => ({ head: { 'content-type': 'application/x-ndjson' }, ...lines(reply) }),
    other: (path, body, response) => inform(path, body, { models, response }),
  }
}

function problemIn({ model, tools, messages }: OllamaRequest, models: Record<string, readonly string[]>) {
  const capabilities = Object.hasOwn(models, model) ? models[model] : undefined
  if (!capabilities) return { status: 404, message: `model '${model}' not found` }
  if (tools && tools.length > 0 && !capabilities.includes('tools'))
    return { status: 400, message: `registry.ollama.ai/library/${model} does not support tools` }
  const bad = messages.find(message =>
    message.tool_calls?.some(call => typeof call.function.arguments !== 'object'),
  )
  return bad && { status: 400, message: 'json: cannot unmarshal string into ToolCallFunctionArguments' }
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

interface Information {
  models: Record<string, readonly string[]>
  response: ServerResponse
}

function inform(path: string, body: unknown, { models, response }: Information): boolean {
  if (path === '/api/tags')
    json(response, { models: Object.keys(models).map(name => ({ name, model: name })) })
  else if (path === '/api/show') show(body, { models, response })
  else return false
  return true
}

function show(body: unknown, { models, response }: Information): void {
  const { model = '' } = body as { model?: string }
  if (Object.hasOwn(models, model)) json(response, { capabilities: models[model] })
  else json(response, { error: `model '${model}' not found` }, 404)
}

function json(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
