import { isRecord } from '../../runtime/guards.ts'
import { askOllama } from './find-model.ts'

/** What Ollama says about a model; empty if it does not respond. */
export interface ModelFacts {
  /** The longest context the model supports. */
  contextLength?: number | undefined
  /** The `num_ctx` of its Modelfile. */
  ownContext?: number | undefined
  canThink?: boolean | undefined
}

interface Server {
  baseUrl: string
  fetch: typeof globalThis.fetch
}

/** Never rejects. */
export async function modelFacts(server: Server, model: string): Promise<ModelFacts> {
  const shown = (await askOllama(server, '/api/show', { model })) as Record<string, unknown> | undefined
  if (!shown) return {}
  const info = isRecord(shown.model_info) ? shown.model_info : {}
  const key = Object.keys(info).find(name => name.endsWith('.context_length'))
  const own =
    typeof shown.parameters === 'string' ? /^num_ctx\s+(\d+)/m.exec(shown.parameters)?.[1] : undefined
  return {
    contextLength: positive(key && info[key]),
    ownContext: positive(own && Number(own)),
    ...(Array.isArray(shown.capabilities) && { canThink: shown.capabilities.includes('thinking') }),
  }
}

/** Whether a model is in memory; `undefined` if Ollama does not say. Never rejects. */
export async function isLoaded(server: Server, model: string): Promise<boolean | undefined> {
  const running = (await askOllama(server, '/api/ps')) as { models?: unknown } | undefined
  if (!Array.isArray(running?.models)) return undefined
  return running.models.some(entry => isRecord(entry) && [entry.name, entry.model].some(isCalled(model)))
}

function isCalled(model: string): (name: unknown) => boolean {
  return name => name === model || name === `${model}:latest`
}

function positive(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined
}
