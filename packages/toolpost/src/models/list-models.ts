import type { Environment } from './environment.ts'
import { ollamaAddress } from './ollama/address.ts'
import { listOllamaModels } from './ollama/find-model.ts'

/** A model that questions can be put to, and why it is among them. */
export interface ListedModel {
  name: string
  why: string
}

interface ListOptions {
  /** What the configuration names. */
  configured?: string | undefined
  /** The model that is used now. */
  current?: ListedModel | undefined
  environment?: Environment | undefined
  fetch?: typeof globalThis.fetch | undefined
}

/** What is used, configured and found, each once; sentences alone come last. Never rejects. */
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
    { name: 'offline', why: 'Sentences of the tools, without a model' },
  ]
  const first = new Map<string, ListedModel>()
  for (const model of all) if (!first.has(model.name)) first.set(model.name, model)
  // An Anthropic model that is named already stands for the provider.
  const hasAnthropic = [...first.keys()].some(name => name.startsWith('anthropic:'))
  if (hasAnthropic) first.delete('anthropic')
  return [...first.values()]
}
