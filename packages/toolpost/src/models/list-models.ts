import type { Environment } from '../runtime/environment.ts'
import { ollamaAddress } from './ollama/address.ts'
import { listOllamaModels } from './ollama/find-model.ts'

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
  const ollama = await listOllamaModels({ baseUrl, fetch })
  const all = [
    ...(current ? [current] : []),
    ...(configured ? [{ name: configured, why: 'set in the configuration' }] : []),
    ...ollama.map(name => ({ name: `ollama:${name}`, why: `Ollama at ${baseUrl} has it` })),
    ...(environment.ANTHROPIC_API_KEY?.trim()
      ? [{ name: 'anthropic', why: 'ANTHROPIC_API_KEY is set' }]
      : []),
    { name: 'offline', why: 'Sentence templates only, no model' },
  ]
  const first = new Map<string, ListedModel>()
  for (const model of all) if (!first.has(model.name)) first.set(model.name, model)
  // A named Anthropic model already stands for the provider.
  const hasAnthropic = [...first.keys()].some(name => name.startsWith('anthropic:'))
  if (hasAnthropic) first.delete('anthropic')
  return [...first.values()]
}
