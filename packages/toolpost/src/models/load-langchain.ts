import { loadOptional, MissingPackageError } from '../runtime/missing-package.ts'
import { ModelError } from './model-error.ts'

/*
 * LangChain is an optional dependency, loaded with the first question to a model.
 */

const CORE = '@langchain/core'
export const OLLAMA_PACKAGES = [CORE, '@langchain/ollama']
export const ANTHROPIC_PACKAGES = [CORE, '@langchain/anthropic']

/** LangChain's messages. `packages`: everything the provider needs, so that one install command gets it all. */
export const loadMessages = (packages: readonly string[] = [CORE]): Promise<LangChainMessages> =>
  loadLangChain(packages, () => import('@langchain/core/messages'))

export const loadOllama = (): Promise<typeof import('@langchain/ollama')> =>
  loadLangChain(OLLAMA_PACKAGES, () => import('@langchain/ollama'))

export const loadAnthropic = (): Promise<typeof import('@langchain/anthropic')> =>
  loadLangChain(ANTHROPIC_PACKAGES, () => import('@langchain/anthropic'))

export type LangChainMessages = typeof import('@langchain/core/messages')

async function loadLangChain<T>(packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await loadOptional('This model', packages, load)
  } catch (error) {
    if (!(error instanceof MissingPackageError)) throw error
    throw new ModelError('missing_package', error.message, { cause: error })
  }
}
