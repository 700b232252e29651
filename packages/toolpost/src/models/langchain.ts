import { loadOptional, MissingPackageError } from '../util/package-root.ts'
import { MAX_BODY_BYTES } from './limits.ts'
import { ModelError } from './model-error.ts'

export type LangChainMessages = typeof import('@langchain/core/messages')
type Fetch = typeof globalThis.fetch

const CORE = '@langchain/core'

const PACKAGES: Readonly<Record<string, string[]>> = {
  anthropic: [CORE, '@langchain/anthropic'],
  ollama: [CORE, '@langchain/ollama'],
  // The last one for Node 20.
  openai: [CORE, '@langchain/openai@1.5.8'],
}

/** LangChain is optional, and loaded with the first question to a model. Rejects with a ModelError that says what to install. */
export async function loadLangChain<T>(provider: string, load: () => Promise<T>): Promise<T> {
  try {
    return await loadOptional('This model', PACKAGES[provider] ?? [CORE], load)
  } catch (error) {
    if (!(error instanceof MissingPackageError)) throw error
    throw new ModelError('missing_package', error.message, { cause: error })
  }
}

/**
 * A fetch whose responses fail once they get too long: libraries buffer them without a limit. They arrive in whole lines,
 * which `check` sees first, and may refuse by throwing.
 */
export function boundedFetch(fetch: Fetch = globalThis.fetch, check?: (lines: Buffer) => void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    let total = 0
    let rest = Buffer.alloc(0)
    const pass = (lines: Buffer, controller: TransformStreamDefaultController<Uint8Array>) => {
      if (response.ok) check?.(lines)
      controller.enqueue(lines)
    }
    const lines = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        total += bytes.length
        const problem = `The model was stopped: its answer is over ${MAX_BODY_BYTES} bytes`
        if (total > MAX_BODY_BYTES) throw new ModelError('truncated', problem)
        const all = Buffer.concat([rest, bytes])
        const end = all.lastIndexOf('\n') + 1
        rest = all.subarray(end)
        if (end > 0) pass(all.subarray(0, end), controller)
      },
      flush: controller => pass(rest, controller),
    })
    return response.body ? new Response(response.body.pipeThrough(lines), response) : response
  }
}
