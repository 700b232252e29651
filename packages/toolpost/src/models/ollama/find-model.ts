import { isObjectLike } from '../../runtime/guards.ts'
import { beginningOf } from '../bounded-body.ts'

/** Ollama's answers about itself and its models are never longer. */
const MAX_FACTS_BYTES = 8 * 1024 * 1024

export interface FoundModel {
  /** A model that can use tools, if there is one. */
  model?: string
  /** Why there is none, as the end of a sentence. */
  problem?: string
}

interface SearchOptions {
  baseUrl: string
  /** Only this one, if it is given. */
  wanted?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  timeoutMs?: number
}

/** A machine next door answers in a few milliseconds; an absent one is not worth waiting for. */
const PROBE_TIMEOUT_MS = 1_000
/** Each one is asked for what it can do. */
const MAX_MODELS_ASKED = 20

/** Looks for a model on Ollama that can use tools. Says in words why there is none; never rejects. */
export async function findOllamaModel(options: SearchOptions): Promise<FoundModel> {
  const { baseUrl, wanted } = options
  const listed = await askOllama(options, '/api/tags')
  if (!listed) return { problem: `Ollama is not running at ${baseUrl}` }
  const names = namesIn(listed).filter(name => !wanted || name === wanted || name === `${wanted}:latest`)
  for (const model of names.slice(0, MAX_MODELS_ASKED)) if (await usesTools(model, options)) return { model }
  if (!wanted)
    return {
      problem: `Ollama at ${baseUrl} has no model that can use tools (try \`ollama pull qwen3:0.6b\`)`,
    }
  if (names.length > 0) return { problem: `'${wanted}' on Ollama cannot use tools` }
  return { problem: `Ollama at ${baseUrl} does not have '${wanted}' (get it with \`ollama pull ${wanted}\`)` }
}

/** The models on Ollama that can use tools; none if it does not answer. Never rejects. */
export async function listOllamaModels(options: SearchOptions): Promise<string[]> {
  const listed = await askOllama(options, '/api/tags')
  const names = listed ? namesIn(listed).slice(0, MAX_MODELS_ASKED) : []
  const fit = await Promise.all(names.map(name => usesTools(name, options)))
  return names.filter((_, at) => fit[at])
}

async function usesTools(model: string, options: SearchOptions): Promise<boolean> {
  const shown = await askOllama(options, '/api/show', { model })
  const capabilities = (shown as { capabilities?: unknown } | undefined)?.capabilities
  return Array.isArray(capabilities) && capabilities.includes('tools')
}

function namesIn(listed: object): string[] {
  const { models } = listed as { models?: unknown }
  if (!Array.isArray(models)) return []
  return models
    .map(entry => (entry as { name?: unknown } | null)?.name)
    .filter(name => typeof name === 'string')
}

/** What Ollama answers at a path; `undefined` if it does not, or not in time. Never rejects. */
export async function askOllama(
  { baseUrl, fetch = globalThis.fetch, timeoutMs = PROBE_TIMEOUT_MS }: SearchOptions,
  path: string,
  body?: object,
): Promise<object | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(
      `${baseUrl}${path}`,
      body ? { method: 'POST', body: JSON.stringify(body), signal } : { signal },
    )
    const value: unknown = response.ok ? JSON.parse(await beginningOf(response, MAX_FACTS_BYTES)) : undefined
    return isObjectLike(value) ? value : undefined
  } catch {
    return undefined
  }
}
