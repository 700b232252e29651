import { isObjectLike, isRecord } from '../util/guards.ts'
import type { Environment } from '../util/platform.ts'
import { trimmedEnd } from '../util/text.ts'
import { beginningOf } from './langchain.ts'

interface Server {
  baseUrl: string
  fetch?: typeof globalThis.fetch | undefined
}

/** Responses about models are never longer. */
const MAX_FACTS_BYTES = 8 * 1024 * 1024
/** A server on the local network answers within milliseconds; a missing one is not worth waiting for. */
const PROBE_TIMEOUT_MS = 1_000
/** Each costs a request for its capabilities. */
const MAX_MODELS_ASKED = 20
const OLLAMA = 'http://127.0.0.1:11434'

/** OpenAI-compatible servers at their usual addresses. */
const LOCAL_SERVERS: readonly { name: string; baseUrl: string }[] = [
  { name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
]

/** Where Ollama is: `OLLAMA_BASE_URL`, else `OLLAMA_HOST` in any form Ollama accepts, else this machine. */
export function ollamaAddress(environment: Environment): string {
  const given = environment.OLLAMA_BASE_URL?.trim() || environment.OLLAMA_HOST?.trim()
  if (!given) return OLLAMA
  const hasScheme = given.includes('://')
  const withHost = given.startsWith(':') ? `127.0.0.1${given}` : given
  const address = hasScheme ? withHost : `http://${withHost}`
  if (!URL.canParse(address)) return OLLAMA
  const url = new URL(address)
  if (!hasScheme && url.port === '' && !/:80(\/|$)/.test(withHost)) url.port = '11434'
  // A server can listen on 0.0.0.0, but a client cannot connect to it.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  return trimmedEnd(url.href, '/')
}

/** What Ollama says about a model. */
export interface OllamaFacts {
  /** The longest context the model supports. */
  contextLength?: number | undefined
  /** The `num_ctx` of its Modelfile. */
  ownContext?: number | undefined
  usesTools?: boolean | undefined
  canThink?: boolean | undefined
  seesImages?: boolean | undefined
}

/** `undefined` if Ollama does not respond. Never rejects. */
export async function ollamaFacts(server: Server, model: string): Promise<OllamaFacts | undefined> {
  const shown = await getJson(server, '/api/show', { model })
  if (!shown) return undefined
  const { model_info: info, parameters, capabilities } = shown
  const lengths = Object.entries(isRecord(info) ? info : {}).find(([key]) => key.endsWith('.context_length'))
  const own = typeof parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  const can = (what: string) => (Array.isArray(capabilities) ? capabilities.includes(what) : undefined)
  return {
    ...{ contextLength: Number(lengths?.[1]) || undefined, ownContext: Number(own) || undefined },
    ...{ usesTools: can('tools'), canThink: can('thinking'), seesImages: can('vision') },
  }
}

/** Looks for a model on Ollama that can use tools, or says why there is none; never rejects. */
export async function findOllamaModel(
  options: Server & { wanted?: string | undefined },
): Promise<{ model?: string; problem?: string }> {
  const { baseUrl, wanted } = options
  const listed = await getJson(options, '/api/tags')
  if (!listed) return { problem: `Ollama is not running at ${baseUrl}` }
  const names = namesIn(listed).filter(name => !wanted || name === wanted || name === `${wanted}:latest`)
  for (const model of names) if ((await ollamaFacts(options, model))?.usesTools) return { model }
  const none = 'has no model that can use tools (try `ollama pull qwen3:0.6b`)'
  if (!wanted) return { problem: `Ollama at ${baseUrl} ${none}` }
  if (names.length > 0) return { problem: `'${wanted}' on Ollama cannot use tools` }
  return { problem: `Ollama at ${baseUrl} does not have '${wanted}' (get it with \`ollama pull ${wanted}\`)` }
}

/** The models on Ollama that can use tools; none if it does not answer. Never rejects. */
async function listOllamaModels(server: Server): Promise<string[]> {
  const names = namesIn((await getJson(server, '/api/tags')) ?? {})
  const facts = await Promise.all(names.map(name => ollamaFacts(server, name)))
  return names.filter((_, at) => facts[at]?.usesTools)
}

function namesIn({ models }: Record<string, unknown>): string[] {
  const names = Array.isArray(models) ? models.map(entry => entry?.name) : []
  return names.filter(name => typeof name === 'string').slice(0, MAX_MODELS_ASKED)
}

/** Whether a model is in memory; `undefined` if Ollama does not say. Never rejects. */
export async function isOllamaLoaded(server: Server, model: string): Promise<boolean | undefined> {
  const { models } = (await getJson(server, '/api/ps')) ?? {}
  if (!Array.isArray(models)) return undefined
  const isMeant = (name: unknown) => name === model || name === `${model}:latest`
  return models.some(entry => isMeant(entry?.name) || isMeant(entry?.model))
}

type LocalSearch = { [Key in 'baseUrl' | 'wanted']?: string | undefined } & Pick<Server, 'fetch'>

interface LocalServer {
  name: string
  baseUrl: string
  model: string
}

/** An OpenAI-compatible server at `baseUrl`, or on this machine, and the model it has: any for chats, or the wanted one. */
export async function findLocalServer({
  baseUrl,
  wanted,
  fetch,
}: LocalSearch): Promise<LocalServer | undefined> {
  const places = baseUrl ? [{ name: 'The server', baseUrl: trimmedEnd(baseUrl, '/') }] : LOCAL_SERVERS
  const modelAt = async (place: { name: string; baseUrl: string }) => {
    const { data } = (await getJson({ ...place, fetch }, '/models')) ?? {}
    const ids: unknown[] = Array.isArray(data) ? data.map(entry => entry?.id) : []
    const isFit = (id: unknown) => typeof id === 'string' && !/embed|rerank/i.test(id)
    const model = ids.find(id => (wanted === undefined ? isFit(id) : id === wanted))
    return model === undefined ? [] : [{ ...place, model: String(model) }]
  }
  const found = await Promise.all(places.map(modelAt))
  return found.flat()[0]
}

/** The response from a path; `undefined` on any failure or timeout. Never rejects. */
async function getJson(
  { baseUrl, fetch = globalThis.fetch }: Server,
  path: string,
  body?: object,
): Promise<Record<string, unknown> | undefined> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
    const request = body ? { method: 'POST', body: JSON.stringify(body), signal } : { signal }
    const response = await fetch(`${baseUrl}${path}`, request)
    const value: unknown = response.ok ? JSON.parse(await beginningOf(response, MAX_FACTS_BYTES)) : undefined
    return isObjectLike(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** A model that can be asked, and why it is listed. */
export interface ListedModel {
  name: string
  why: string
}

interface ListOptions {
  /** The model named in the configuration. */
  configured?: string | undefined
  /** The model in use. */
  current?: ListedModel | undefined
  environment?: Environment | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** The models in use, configured and found, each once; `offline` comes last. Never rejects. */
export async function listModels({ configured, current, environment = process.env, fetch }: ListOptions) {
  const baseUrl = ollamaAddress(environment)
  const [ollama, local] = await Promise.all([
    listOllamaModels({ baseUrl, fetch }),
    findLocalServer({ baseUrl: environment.OPENAI_BASE_URL?.trim(), fetch }),
  ])
  const all = new Map<string, string>()
  const add = (name: string | undefined, why: string) => name && !all.has(name) && all.set(name, why)
  add(current?.name, current?.why ?? '')
  add(configured, 'set in the configuration')
  for (const name of ollama) add(`ollama:${name}`, `Ollama at ${baseUrl} has it`)
  add(local && `openai:${local.model}`, `${local?.name} at ${local?.baseUrl} has it`)
  for (const provider of ['anthropic', 'openai']) {
    const key = `${provider.toUpperCase()}_API_KEY`
    // A named model already stands for its provider.
    const isNamed = [...all.keys()].some(name => name.startsWith(`${provider}:`))
    if (environment[key]?.trim() && !isNamed) add(provider, `${key} is set`)
  }
  add('offline', 'Sentence templates only, no model')
  return [...all].map(([name, why]): ListedModel => ({ name, why }))
}
