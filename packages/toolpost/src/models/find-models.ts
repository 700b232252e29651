import type { Environment } from '../util/environment.ts'
import { isObjectLike, isRecord } from '../util/guards.ts'
import { trimmedEnd } from '../util/trimmed-end.ts'
import { beginningOf } from './bounded-fetch.ts'

type Fetch = typeof globalThis.fetch

interface Server {
  baseUrl: string
  fetch?: Fetch | undefined
  timeoutMs?: number
}

/** Responses about models are never longer. */
const MAX_FACTS_BYTES = 8 * 1024 * 1024
/** A server on the local network answers within milliseconds; a missing one is not worth waiting for. */
const PROBE_TIMEOUT_MS = 1_000
const LOCAL_TIMEOUT_MS = 300
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

/** Looks for a model on Ollama that can use tools, or says why there is none; never rejects. */
export async function findOllamaModel(
  options: Server & { wanted?: string | undefined },
): Promise<{ model?: string; problem?: string }> {
  const { baseUrl, wanted } = options
  const listed = await getJson(options, '/api/tags')
  if (!listed) return { problem: `Ollama is not running at ${baseUrl}` }
  const names = namesIn(listed).filter(name => !wanted || name === wanted || name === `${wanted}:latest`)
  for (const model of names) if (await usesTools(model, options)) return { model }
  if (!wanted)
    return {
      problem: `Ollama at ${baseUrl} has no model that can use tools (try \`ollama pull qwen3:0.6b\`)`,
    }
  if (names.length > 0) return { problem: `'${wanted}' on Ollama cannot use tools` }
  return { problem: `Ollama at ${baseUrl} does not have '${wanted}' (get it with \`ollama pull ${wanted}\`)` }
}

/** The models on Ollama that can use tools; none if it does not answer. Never rejects. */
export async function listOllamaModels(server: Server): Promise<string[]> {
  const names = namesIn((await getJson(server, '/api/tags')) ?? {})
  const fit = await Promise.all(names.map(name => usesTools(name, server)))
  return names.filter((_, at) => fit[at])
}

async function usesTools(model: string, server: Server): Promise<boolean> {
  const { capabilities } = ((await getJson(server, '/api/show', { model })) ?? {}) as {
    capabilities?: unknown
  }
  return Array.isArray(capabilities) && capabilities.includes('tools')
}

function namesIn({ models }: { models?: unknown }): string[] {
  const names = Array.isArray(models) ? models.map(entry => entry?.name) : []
  return names.filter(name => typeof name === 'string').slice(0, MAX_MODELS_ASKED)
}

/** What Ollama says about a model. */
export interface OllamaFacts {
  /** The longest context the model supports. */
  contextLength?: number | undefined
  /** The `num_ctx` of its Modelfile. */
  ownContext?: number | undefined
  canThink?: boolean | undefined
  seesImages?: boolean | undefined
}

/** `undefined` if Ollama does not respond. Never rejects. */
export async function ollamaFacts(server: Server, model: string): Promise<OllamaFacts | undefined> {
  const shown = (await getJson(server, '/api/show', { model })) as Record<string, unknown> | undefined
  if (!shown) return undefined
  const { model_info: info, parameters, capabilities } = shown
  const lengths = Object.entries(isRecord(info) ? info : {}).find(([key]) => key.endsWith('.context_length'))
  const own = typeof parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  return {
    contextLength: Number(lengths?.[1]) || undefined,
    ownContext: Number(own) || undefined,
    ...(Array.isArray(capabilities) && {
      canThink: capabilities.includes('thinking'),
      seesImages: capabilities.includes('vision'),
    }),
  }
}

/** Whether a model is in memory; `undefined` if Ollama does not say. Never rejects. */
export async function isOllamaLoaded(server: Server, model: string): Promise<boolean | undefined> {
  const { models } = ((await getJson(server, '/api/ps')) ?? {}) as { models?: unknown }
  if (!Array.isArray(models)) return undefined
  return models.some(entry =>
    [entry?.name, entry?.model].some(name => name === model || name === `${model}:latest`),
  )
}

interface LocalSearch {
  /** Looks only there. */
  baseUrl?: string | undefined
  /** Any chat model if left out. */
  wanted?: string | undefined
  fetch?: Fetch | undefined
}

/** An OpenAI-compatible server on this machine and the model it has. Never rejects. */
export async function findLocalServer({
  baseUrl,
  wanted,
  fetch,
}: LocalSearch): Promise<{ name: string; baseUrl: string; model: string } | undefined> {
  const places = baseUrl ? [{ name: 'The server', baseUrl: trimmedEnd(baseUrl, '/') }] : LOCAL_SERVERS
  const found = await Promise.all(
    places.map(async place => {
      const server = { baseUrl: place.baseUrl, fetch, timeoutMs: LOCAL_TIMEOUT_MS }
      const { data } = ((await getJson(server, '/models')) ?? {}) as { data?: unknown }
      const ids = Array.isArray(data) ? data.map(entry => entry?.id) : []
      const isFit = (id: unknown) => typeof id === 'string' && !/embed|rerank/i.test(id)
      const model = ids.find(id => (wanted === undefined ? isFit(id) : id === wanted))
      return model === undefined ? undefined : { ...place, model: String(model) }
    }),
  )
  return found.find(each => each !== undefined)
}

/** The response from a path; `undefined` on any failure or timeout. Never rejects. */
async function getJson(
  { baseUrl, fetch = globalThis.fetch, timeoutMs = PROBE_TIMEOUT_MS }: Server,
  path: string,
  body?: object,
): Promise<object | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const request = body ? { method: 'POST', body: JSON.stringify(body), signal } : { signal }
    const response = await fetch(`${baseUrl}${path}`, request)
    const value: unknown = response.ok ? JSON.parse(await beginningOf(response, MAX_FACTS_BYTES)) : undefined
    return isObjectLike(value) ? value : undefined
  } catch {
    return undefined
  }
}
