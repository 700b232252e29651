import { isObjectLike, isRecord } from '../util/guards.ts'
import type { Environment } from '../util/platform.ts'
import { boundedFetch } from './langchain.ts'

interface Server {
  baseUrl: string
  fetch?: typeof globalThis.fetch | undefined
}

/** A server on the local network answers within milliseconds; a missing one is not worth waiting for. */
const PROBE_TIMEOUT_MS = 1_000
const MAX_MODELS_ASKED = 20
const OLLAMA = 'http://127.0.0.1:11434'

/** OpenAI-compatible servers at their usual addresses. */
const LOCAL_SERVERS = [
  { server: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { server: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { server: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
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
  return url.href.replace(/\/+$/, '')
}

export type OllamaFacts = Partial<NonNullable<Awaited<ReturnType<typeof ollamaFacts>>>>

/** `undefined` if Ollama does not respond. Never rejects. */
export async function ollamaFacts(server: Server, model: string) {
  const shown = await getJson(server, '/api/show', { model })
  if (!shown) return undefined
  const { model_info: info, parameters, capabilities } = shown
  const lengths = Object.entries(isRecord(info) ? info : {}).find(([key]) => key.endsWith('.context_length'))
  const own = typeof parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined
  const can = (what: string) => (Array.isArray(capabilities) ? capabilities.includes(what) : undefined)
  return {
    contextLength: Number(lengths?.[1]) || undefined,
    ownContext: Number(own) || undefined,
    usesTools: can('tools'),
    canThink: can('thinking'),
    seesImages: can('vision'),
  }
}

/** The models on Ollama that can use tools, or just the wanted one, or why there are none. Never rejects. */
export async function findOllamaModels(
  options: Server & { wanted?: string | undefined },
): Promise<{ models: string[]; problem?: string }> {
  const { baseUrl, wanted } = options
  const listed = await getJson(options, '/api/tags')
  if (!listed) return { models: [], problem: `Ollama is not running at ${baseUrl}` }
  const names = namesIn(listed.models, 'name')
    .filter(name => !wanted || name === wanted || name === `${wanted}:latest`)
    .slice(0, MAX_MODELS_ASKED)
  const facts = await Promise.all(names.map(name => ollamaFacts(options, name)))
  const models = names.filter((_, at) => facts[at]?.usesTools)
  if (models.length > 0) return { models }
  if (wanted && names.length > 0) return { models, problem: `'${wanted}' on Ollama cannot use tools` }
  const what = wanted ? `does not have '${wanted}'` : 'has no model that can use tools'
  const tip = `try \`ollama pull ${wanted || 'qwen3:0.6b'}\``
  return { models, problem: `Ollama at ${baseUrl} ${what} (${tip})` }
}

/** Whether a model is in memory; `undefined` if Ollama does not say. Never rejects. */
export async function isOllamaLoaded(server: Server, model: string): Promise<boolean | undefined> {
  const { models } = (await getJson(server, '/api/ps')) ?? {}
  if (!Array.isArray(models)) return undefined
  const names = [...namesIn(models, 'name'), ...namesIn(models, 'model')]
  return names.includes(model) || names.includes(`${model}:latest`)
}

/** An OpenAI-compatible server at `openAiUrl`, or on this machine, and the model it has: any for chats, or the wanted one. */
export async function findLocalServer({ openAiUrl, wanted, fetch }: SearchOptions) {
  const given = openAiUrl && [{ server: 'The server', baseUrl: openAiUrl.replace(/\/+$/, '') }]
  const places = given || LOCAL_SERVERS
  const isFit = (id: string) => (wanted === undefined ? !/embed|rerank/i.test(id) : id === wanted)
  const found = places.map(async place => {
    const { data } = (await getJson({ ...place, fetch }, '/models')) ?? {}
    const model = namesIn(data, 'id').find(isFit)
    return model === undefined ? [] : [{ ...place, model }]
  })
  return (await Promise.all(found)).flat()[0]
}

function namesIn(list: unknown, key: string): string[] {
  const names: unknown[] = Array.isArray(list) ? list.map(entry => entry?.[key]) : []
  return names.filter(name => typeof name === 'string')
}

/** The response from a path; `undefined` on any failure or timeout. Never rejects. */
async function getJson({ baseUrl, fetch }: Server, path: string, body?: object) {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
    const request = body ? { method: 'POST', body: JSON.stringify(body), signal } : { signal }
    const response = await boundedFetch(fetch)(`${baseUrl}${path}`, request)
    const value: unknown = response.ok ? await response.json() : undefined
    return isObjectLike(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

interface SearchOptions {
  environment?: Environment | undefined
  fetch?: typeof globalThis.fetch | undefined
  /** Where an OpenAI-compatible server is, if not on this machine. */
  openAiUrl?: string | undefined
  /** The model to look for on Ollama; any that can use tools if left out. */
  wanted?: string | undefined
}

type ListedModel = { name: string; why: string }
type ListOptions = SearchOptions & { configured?: string | undefined; current?: ListedModel | undefined }

/** What can be asked and why, best first, and `offline` last: on Ollama, on this machine, with a key. Never rejects. */
export async function availableModels(options: SearchOptions): Promise<ListedModel[]> {
  const { environment = process.env, fetch, wanted } = options
  const { openAiUrl = environment.OPENAI_BASE_URL?.trim() } = options
  const baseUrl = ollamaAddress(environment)
  const [{ models, problem }, local] = await Promise.all([
    findOllamaModels({ baseUrl, wanted, fetch }),
    findLocalServer({ openAiUrl, fetch }),
  ])
  const but = problem ? `${problem}, and ` : ''
  const keys = ['ANTHROPIC', 'OPENAI'].filter(each => environment[`${each}_API_KEY`]?.trim())
  return [
    ...models.map(model => ({ name: `ollama:${model}`, why: `Ollama at ${baseUrl} has it` })),
    ...(local ? [{ name: `openai:${local.model}`, why: `${local.server} at ${local.baseUrl} has it` }] : []),
    ...keys.map(each => ({ name: each.toLowerCase(), why: `${but}${each}_API_KEY is set` })),
    { name: 'offline', why: `${but}neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set` },
  ]
}

/** The models in use, configured and found, each once; `offline` comes last. Never rejects. */
export async function listModels({ configured, current, ...where }: ListOptions) {
  const all = current ? [current] : []
  const set = configured ? [{ name: configured, why: 'set in the configuration' }] : []
  for (const { name, why } of [...set, ...(await availableModels(where))]) {
    // A named model already stands for its provider.
    if (all.some(other => other.name === name || other.name.startsWith(`${name}:`))) continue
    all.push({ name, why: name === 'offline' ? 'Sentence templates only, no model' : why })
  }
  return all
}
