import type { Environment } from '../runtime/environment.ts'
import { findLocalServer, listOllamaModels, ollamaAddress } from './find-models.ts'

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
export async function listModels({
  configured,
  current,
  environment = process.env,
  fetch,
}: ListOptions): Promise<ListedModel[]> {
  const baseUrl = ollamaAddress(environment)
  const [ollama, local] = await Promise.all([
    listOllamaModels({ baseUrl, fetch }),
    findLocalServer({ baseUrl: environment.OPENAI_BASE_URL?.trim(), fetch }),
  ])
  const all = [
    ...(current ? [current] : []),
    ...(configured ? [{ name: configured, why: 'set in the configuration' }] : []),
    ...ollama.map(name => ({ name: `ollama:${name}`, why: `Ollama at ${baseUrl} has it` })),
    ...(local ? [{ name: `openai:${local.model}`, why: `${local.name} at ${local.baseUrl} has it` }] : []),
    ...(environment.ANTHROPIC_API_KEY?.trim()
      ? [{ name: 'anthropic', why: 'ANTHROPIC_API_KEY is set' }]
      : []),
    ...(environment.OPENAI_API_KEY?.trim() ? [{ name: 'openai', why: 'OPENAI_API_KEY is set' }] : []),
    { name: 'offline', why: 'Sentence templates only, no model' },
  ]
  const first = new Map(all.toReversed().map(model => [model.name, model]))
  // A named model already stands for its provider.
  const isNamed = (provider: string) => all.some(({ name }) => name.startsWith(`${provider}:`))
  return all.filter(model => first.get(model.name) === model && !isNamed(model.name))
}
