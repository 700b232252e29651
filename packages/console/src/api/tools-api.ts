import { toolsIn } from './checked.ts'
import { requestJson } from './http.ts'

/** The names of the best matching tools, best first; `undefined` if the gateway does not answer. Never rejects. */
export async function rankedToolNames(words: string, signal: AbortSignal): Promise<string[] | undefined> {
  try {
    const path = `/api/tools?${new URLSearchParams({ q: words.slice(0, 500) })}`
    return toolsIn((await requestJson<{ tools: unknown }>(path, { signal })).tools).map(({ name }) => name)
  } catch {
    return undefined
  }
}
