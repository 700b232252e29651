import { isRecord } from '../runtime/guards.ts'
import { type ParseLimits, parseInSlices, TooLargeError } from '../runtime/sliced-json.ts'

/**
 * A long message from a server, parsed in slices. In a list, an object with too many keys is left out, so that one tool
 * does not take the others down with it. Anywhere else the result would be wrong: rejects with a TooLargeError.
 */
export async function parseLongMessage(text: string, limits: ParseLimits): Promise<unknown> {
  let problem: string | undefined
  const onLeftOut = (found: string) => {
    problem = found
  }
  const message = await parseInSlices(text, { ...limits, onLeftOut })
  if (problem !== undefined && !isList(message)) throw new TooLargeError(problem)
  return message
}

const LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts']

function isList(message: unknown): boolean {
  const { result } = isRecord(message) ? message : {}
  return isRecord(result) && LISTS.some(name => Array.isArray(result[name]))
}
