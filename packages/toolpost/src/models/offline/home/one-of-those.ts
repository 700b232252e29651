import type { Request } from '../request.ts'
import type { Home, HomeDevice } from './home.ts'
import { type Phrase, readPhrase } from './phrase.ts'
import { devicesSaid, isAlike, mostAlike } from './said-of.ts'

interface Those {
  devices: readonly HomeDevice[]
  isAll: boolean
}

/** "The other one", "the kitchen one", "the one in the kitchen": of the kind just mentioned. */
export function oneOfThose(
  request: Request,
  at: number,
  { used, home }: { used: number; home: Home },
): Those | undefined {
  const said = whichOne(request, at, { used, home })
  if (!said || (said.phrase.tokens.length === 0 && !said.phrase.isOther)) return undefined
  const { phrase, isAll } = said
  const before = home.devices.filter(({ call }) => request.mentioned.devices.includes(call))
  const sets = phrase.tokens.map(token => devicesSaid(home, token))
  const devices = home.devices.filter(
    device =>
      sets.every(set => set.has(device)) &&
      !(phrase.isOther && before.includes(device)) &&
      before.some(other => isAlike(device, other)),
  )
  return { devices: phrase.isOther ? mostAlike(devices, before) : devices, isAll }
}

const ONE = new Set(['one', 'ones'])
const WHERE = new Set(['in', 'on', 'at', 'by', 'from', 'near'])

/** The words that describe it, and whether "ones" was said. */
function whichOne(
  request: Request,
  at: number,
  { used, home }: { used: number; home: Home },
): { phrase: Phrase; isAll: boolean } | undefined {
  const word = (place: number) => request.words[place]?.key ?? ''
  const last = word(at + used - 1)
  if (used > 1 && ONE.has(last)) return said(readPhrase(request, at, used - 1, home), last)
  const first = word(at) === 'the' ? at + 1 : at
  const where = first + 2
  if (!ONE.has(word(first)) || !WHERE.has(word(first + 1)) || where >= at + used) return undefined
  return said(readPhrase(request, where, at + used - where, home), word(first))
}

function said(phrase: Phrase | undefined, one: string): { phrase: Phrase; isAll: boolean } | undefined {
  return phrase && { phrase, isAll: one === 'ones' }
}
