import type { ListReader } from '../lists.ts'
import { type Request, type Taking, WEIGHTS } from '../request.ts'
import { plain } from '../tokens.ts'
import { wordSet } from '../words.ts'
import type { Home, HomeDevice } from './home.ts'
import { plural } from './nouns.ts'
import { oneOfThose } from './one-of-those.ts'
import { type Phrase, readPhrase } from './phrase.ts'
import { type Reference, together, without } from './reference.ts'
import { alive, namedBy, roomAsTarget } from './said-of.ts'

const PRONOUNS = new Set([
  'it',
  'them',
  'they',
  'that',
  'this',
  'that one',
  'this one',
  'those',
  'these',
  'them all',
  'them both',
  'it all',
  'all of them',
  'both of them',
  'the same one',
  'both',
])
const JOINTS = [['as', 'well', 'as'], ['and', 'also'], ['and'], ['plus'], ['+']]
const EXCEPT = [['except', 'for'], ['except'], ['but', 'not'], ['but'], ['apart', 'from'], ['other', 'than']]
/** Never in the name of a device. */
const STOP = wordSet(
  `turn switch put dim set make lower raise brighten to when if then or is are was not don't do did by percent % at-once
  until after before while because`,
)
/** What introduces the room of an exception. */
const THOSE_IN = ['the ones in', 'those in', 'the one in', 'in'].map(phrase => phrase.split(' '))
const MAX_ROOM_WORDS = 4
const MAX_WORDS = 9
const MAX_JOINED = 8

export interface ReferencesOptions {
  home: Home
  /** Whether a device can do what the sentence says. */
  fits(device: HomeDevice): boolean
  /** Whether a room alone means what is in it ("turn off the kitchen"). */
  takesRooms?: boolean
  /** Whether the house alone means everything in it ("lock the house"). */
  takesHouse?: boolean
}

/** Reads how people refer to devices: by name, by kind and place, all of them, those just mentioned. */
export class References implements ListReader {
  readonly #options: ReferencesOptions
  readonly #splits = new WeakMap<readonly HomeDevice[], { able: HomeDevice[]; unfit: HomeDevice[] }>()

  constructor(options: ReferencesOptions) {
    this.#options = options
  }

  read(request: Request, at: number): readonly Taking[] {
    return request.once(this, at, () => this.#joined(request, at))
  }

  phrases(): Iterable<readonly string[]> {
    return []
  }

  /** "the lamp", "the lamp and the fan", "everything except the lamp". */
  #joined(request: Request, at: number): Taking[] {
    const takings: Taking[] = []
    let open = this.#alone(request, at)
    for (let round = 0; open.length > 0 && round < MAX_JOINED; round++) {
      takings.push(...open)
      open = open.flatMap(taking => this.#continued(request, at, taking))
    }
    return takings
  }

  #continued(request: Request, start: number, taking: Taking): Taking[] {
    const at = start + taking.used
    const first = taking.value as Reference
    const except = EXCEPT.find(phrase => phrase.every((word, k) => request.words[at + k]?.key === word))
    if (except)
      return this.#excepted(request, at + except.length).map(next =>
        extended(taking, next, except.length, without(first, next.value as Reference)),
      )
    const joint = jointAt(request, at)
    if (joint === undefined || (first.devices.length > 1 && !first.isAll)) return []
    return this.#alone(request, at + joint).flatMap(next => {
      const second = next.value as Reference
      const isClear = second.devices.length === 1 || second.isAll
      return isClear ? extended(taking, next, joint, together(first, second)) : []
    })
  }

  /** "The lamp", "the bedroom", "the ones in the bedroom". */
  #excepted(request: Request, at: number): Taking[] {
    const { home } = this.#options
    const lead = THOSE_IN.find(phrase => phrase.every((word, k) => request.words[at + k]?.key === word)) ?? []
    const rooms: Taking[] = []
    for (let used = 1; used <= MAX_ROOM_WORDS && at + used <= request.words.length; used++) {
      const said = request.words.slice(at + lead.length, at + lead.length + used).map(({ key }) => plain(key))
      const room = home.room(said[0] === 'the' ? said.slice(1) : said)
      const found = room && this.#taken({ devices: [...room.devices], isAll: true }, lead.length + used)
      if (found) rooms.push({ ...found, used: lead.length + used })
    }
    return [...this.#alone(request, at), ...rooms]
  }

  #alone(request: Request, at: number): Taking[] {
    const takings: Taking[] = []
    for (let used = 1; used <= MAX_WORDS && at + used <= request.words.length; used++) {
      const last = request.words[at + used - 1]?.key ?? ''
      if (STOP.has(last) && !(last === 'switch')) break
      const found = this.#resolve(request, at, used)
      if (found) takings.push({ ...found, used })
    }
    return takings
  }

  #resolve(request: Request, at: number, used: number): Omit<Taking, 'used'> | undefined {
    const { home } = this.#options
    const said = request.words.slice(at, at + used).map(({ key }) => key)
    if (PRONOUNS.has(said.join(' '))) {
      const devices = request.mentioned.devices.flatMap(name =>
        home.devices.filter(({ call }) => call === name),
      )
      return this.#taken({ devices, isAll: true }, used)
    }
    const phrase = readPhrase(request, at, used, home)
    const found = phrase && this.#found(request, phrase)
    if (found) return found
    const those = oneOfThose(request, at, { used, home })
    return those && this.#taken({ ...those, isLoose: true }, used)
  }

  #found(request: Request, phrase: Phrase): Omit<Taking, 'used'> | undefined {
    const { home, takesRooms } = this.#options
    const { tokens, isAll, weight } = phrase
    if (tokens.length === 0)
      return phrase.isAnything && (!phrase.isHouse || this.#options.takesHouse)
        ? this.#taken({ devices: alive(home.devices), isAll: true, isEvery: true, isLoose: true }, weight)
        : undefined
    const exactly = home.called(phrase.said)
    const called = exactly.length > 0 || phrase.isMadeOne ? exactly : home.called(tokens)
    if (called.length > 0 && !isAll)
      return this.#taken({ devices: called, isAll: false, chosen: request.chosen }, weight)
    const group = home.group(phrase.said)
    if (group) return this.#taken({ devices: group, isAll: true, noun: phrase.said.join(' ') }, weight)
    const room = home.room(tokens)
    if (room && phrase.isAnything)
      return this.#taken({ devices: alive([...room.devices]), isAll: true, isLoose: true }, weight)
    if (room && !isAll && !takesRooms && phrase.noun === undefined) return undefined
    if (room && !isAll && takesRooms)
      return this.#taken({ ...roomAsTarget([...room.devices], this.#options.fits), isLoose: true }, weight)
    const candidates = this.#candidates(request, phrase)
    if (candidates.length === 0) return undefined
    const living = alive(candidates)
    const isTwo = !phrase.isBoth || this.#split(living).able.length === 2
    const several = (isAll || phrase.isPlural) && isTwo
    const noun = phrase.noun && plural(phrase.noun)
    const devices = several || living.length === 1 ? living : candidates
    const { chosen } = request
    return this.#taken(
      { devices, isAll: several, isEvery: isAll, isBoth: phrase.isBoth, noun, isLoose: true, chosen },
      weight,
    )
  }

  #candidates(request: Request, phrase: Phrase): readonly HomeDevice[] {
    const named = namedBy(this.#options.home, phrase)
    return phrase.isOther ? named.filter(({ call }) => !request.mentioned.devices.includes(call)) : named
  }

  #split(devices: readonly HomeDevice[]): { able: HomeDevice[]; unfit: HomeDevice[] } {
    const known = this.#splits.get(devices)
    if (known) return known
    const split = { able: [] as HomeDevice[], unfit: [] as HomeDevice[] }
    for (const device of devices) (this.#options.fits(device) ? split.able : split.unfit).push(device)
    this.#splits.set(devices, split)
    return split
  }

  #taken(
    found: {
      devices: readonly HomeDevice[]
      isAll: boolean
      isBoth?: boolean
      isEvery?: boolean
      noun?: string | undefined
      isLoose?: boolean
      chosen?: readonly string[] | undefined
    },
    weight: number,
  ): Omit<Taking, 'used'> | undefined {
    const { isAll, isBoth, isEvery, noun, isLoose = false, chosen } = found
    const meant =
      chosen && !isAll && found.devices.length > 1
        ? found.devices.filter(({ call }) => chosen.includes(call))
        : found.devices
    const { able: devices, unfit } = this.#split(meant)
    if (meant.length === 0 || (devices.length === 0 && isLoose && meant.length > 1)) return undefined
    const value: Reference = {
      kind: 'reference',
      devices,
      isAll: isAll || (chosen?.length ?? 0) > 1,
      isBoth,
      isEvery,
      noun,
      unfit,
    }
    return { value, weight: devices.length > 0 ? weight : weight * WEIGHTS.unfit, free: 0 }
  }
}

function jointAt({ words: said, text }: Request, at: number): number | undefined {
  const [before, next] = [said[at - 1], said[at]]
  if (!before || !next) return undefined
  const joint = JOINTS.find(phrase => phrase.every((word, k) => said[at + k]?.key === word))
  if (joint) return joint.length
  return /[,&/]/.test(text.slice(before.end, next.start)) ? 0 : undefined
}

function extended(first: Taking, next: Taking, joint: number, value: Reference): Taking {
  return {
    value,
    used: first.used + joint + next.used,
    weight: first.weight + joint + next.weight,
    free: 0,
  }
}
