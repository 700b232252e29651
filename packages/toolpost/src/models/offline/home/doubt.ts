import { listWords, type Matched, type Meaning, saying } from '../meaning.ts'
import type { Reference } from './reference.ts'

const MAX_NAMED = 5

/** The reply if it is unclear which device is meant, or if it cannot do that. */
export function doubtAbout(
  { devices, isAll, unfit }: Reference,
  matched: Matched,
  isReading = false,
): Meaning | undefined {
  if (devices.length === 0) {
    const names = listWords(unfit.map(({ call }) => call))
    return saying(
      'talk',
      names === '' ? 'There is no such device there.' : `${names} cannot do that.`,
      matched,
    )
  }
  if (devices.length === 1 || isAll || (isReading && devices.length <= MAX_NAMED)) return undefined
  const names = devices.slice(0, MAX_NAMED).map(({ call }) => call)
  return saying('ask', `Which one do you mean: ${listWords(names, 'or')}?`, matched)
}
