import type { Environment } from '../util/environment.ts'
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
