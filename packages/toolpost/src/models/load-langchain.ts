import { loadOptional, MissingPackageError } from '../util/missing-package.ts'
import { ModelError } from './model-error.ts'

export type LangChainMessages = typeof import('@langchain/core/messages')

const CORE = '@langchain/core'

/** What to install for a provider, so that one command gets it all. */
export const PACKAGES = {
  anthropic: [CORE, '@langchain/anthropic'],
  ollama: [CORE, '@langchain/ollama'],
  // The last one for Node 20.
  openai: [CORE, '@langchain/openai@1.5.8'],
}

/** LangChain's messages. LangChain is optional, and loaded with the first question to a model. */
export const loadMessages = (packages: readonly string[] = [CORE]): Promise<LangChainMessages> =>
  loadLangChain(packages, () => import('@langchain/core/messages'))

/** Rejects with a ModelError that says what to install. */
export async function loadLangChain<T>(packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await loadOptional('This model', packages, load)
  } catch (error) {
    if (!(error instanceof MissingPackageError)) throw error
    throw new ModelError('missing_package', error.message, { cause: error })
  }
}
