import { isObjectLike } from '../../runtime/guards.ts'
import { beginningOf } from '../bounded-body.ts'

/** Ollama's responses about its models are never longer. */
const MAX_FACTS_BYTES = 8 * 1024 * 1024

export interface FoundModel {
  /** A model that can use tools, if there is one. */
  model?: string
  /** Why there is none, as the end of a sentence. */
  problem?: string
}

interface SearchOptions {
  baseUrl: string
  /** If set, only this one. */
  wanted?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  timeoutMs?: number
}

/** A server on the local network answers within milliseconds; a missing one is not worth waiting for. */
const PROBE_TIMEOUT_MS = 1_000
/** Each costs a request for its capabilities. */
const MAX_MODELS_ASKED = 20

/** Looks for a model on Ollama that can use tools, or says why there is none; never rejects. */
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

/** Ollama's response from a path; `undefined` on any failure or timeout. Never rejects. */
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
