import { MISSING_DEVICES } from '../decoys.ts'
import { isSaid, wordsSaid } from '../spoken-form.ts'
import { nameTokens } from '../tokens.ts'
import { wordSet } from '../words.ts'
import type { Home, HomeDevice } from './home.ts'
import { fitsList } from './home-lists.ts'
import { nounOf, plural, singularNoun } from './nouns.ts'

const LISTS = wordSet('devices switchable dimmable levelled covers locks thermostats sensors')
const BY_ROOM = wordSet('devices switchable dimmable levelled covers')

const OTHER_ROOMS = ['dining room', 'guest room', 'laundry room']

const NUMBERS = Array.from({ length: 12 }, (_, index) => String(index + 1))

/** The context in which a device is named: commands may name missing things, questions any one of several. */
export type NamedIn = 'command' | 'question' | 'anything'

/** How people name the devices of a list in any context, as words; `undefined` if it is not a list of devices. */
export function spokenNames(home: Home, list: string): string[][] | undefined {
  if (!LISTS.has(list)) return undefined
  const { names, groups, nouns, rooms } = speechOf(home)
  const fits = (kind: Kind) => fitsList(list, { kind })
  const called = ({ kinds }: Named) => [...kinds].some(fits)
  return inWordsAll(home, [
    ...names.filter(called).flatMap(({ said }) => said),
    ...groups.filter(called).flatMap(({ said }) => said),
    ...kindPhrases(countsOf(nouns, fits)),
    ...(BY_ROOM.has(list) ? rooms : []).flatMap(([room, inside]) =>
      roomPhrases(room, countsOf(inside, fits)),
    ),
  ])
}

/** Additional names used only in this context. */
export function spokenOnlyIn(home: Home, list: string, place: NamedIn): string[][] {
  if (!LISTS.has(list)) return []
  if (place === 'command') return inWordsAll(home, inCommands(home, list))
  if (place !== 'question') return []
  return inWordsAll(home, anyOf(countsOf(speechOf(home).nouns, kind => fitsList(list, { kind }))))
}

type Kind = HomeDevice['kind']

/** Phrases, and the kinds of devices they refer to. */
interface Named {
  said: readonly string[]
  kinds: ReadonlySet<Kind>
}
/** Nouns by kind of device, with the number of devices each applies to. */
type Nouns = ReadonlyMap<Kind, ReadonlyMap<string, number>>

interface Speech {
  names: readonly Named[]
  groups: readonly Named[]
  nouns: Nouns
  rooms: readonly (readonly [string, Nouns])[]
}

const speeches = new WeakMap<Home, Speech>()

/** What all of a home's lists are built from. */
function speechOf(home: Home): Speech {
  const known = speeches.get(home)
  if (known) return known
  const kindsOf = (devices: readonly HomeDevice[]) => new Set(devices.map(({ kind }) => kind))
  const speech = {
    names: [...home.names()].map(([name, called]) => ({
      said: [name, ...shorter(name, home)],
      kinds: kindsOf(called),
    })),
    groups: [...home.groups()].map(([name, members]) => ({ said: [name], kinds: kindsOf(members) })),
    nouns: nounsOf(home.devices),
    rooms: [...home.rooms()].map(([room, { devices }]) => [room, nounsOf(devices)] as const),
  }
  speeches.set(home, speech)
  return speech
}

/** A cache, since lists share phrases. */
const said = new WeakMap<Home, Map<string, [string[]] | undefined>>()

/** Phrases as spoken, without unpronounceable ones. */
function inWordsAll(home: Home, phrases: readonly string[]): string[][] {
  return [...new Set(phrases)].flatMap(phrase => inWords(home, phrase) ?? [])
}

/** A phrase as spoken, word by word; `undefined` if it cannot be. */
function inWords(home: Home, phrase: string): [string[]] | undefined {
  const known = said.get(home) ?? new Map<string, [string[]] | undefined>()
  said.set(home, known)
  if (known.has(phrase)) return known.get(phrase)
  const tokens = phrase.split(' ')
  const words: [string[]] | undefined = tokens.every(isSaid) ? [tokens.flatMap(wordsSaid)] : undefined
  known.set(phrase, words)
  return words
}

/** The devices and scenes that cannot be spoken: all of their names have letters that English lacks. */
export function unspeakableNames(home: Home): string[] {
  const spoken = new Set<HomeDevice>()
  for (const [name, devices] of home.names())
    if (name.split(' ').every(isSaid)) for (const device of devices) spoken.add(device)
  const isSpoken = (name: string) => nameTokens(name).every(isSaid)
  const scenes = home.scenes.filter(scene => ![scene, ...(home.aliases[scene] ?? [])].some(isSpoken))
  return [...home.devices.filter(device => !spoken.has(device)).map(({ call }) => call), ...scenes]
}

/** "Back door" for the back door lock: the kind goes without saying. */
function shorter(name: string, home: Home): string[] {
  const tokens = name.split(' ')
  const short = tokens.slice(0, -1)
  if (short.length < 2 || !nounOf(tokens.at(-1) ?? '') || !nounOf(short.at(-1) ?? '')) return []
  return home.room(short) || home.called(short).length > 0 ? [] : [short.join(' ')]
}

/** Other words for a kind of thing, whatever its name. */
const ALSO_SAID: Readonly<Record<string, readonly string[]>> = {
  thermostat: ['heating'],
  tv: ['television', 'telly'],
}
/** Used in the plural even for one. */
const ALWAYS_MANY = new Set(['blind', 'curtain', 'shade', 'shutter', 'drape'])
/** "Dim the lights", "lock the doors", even if there is only one. */
const OFTEN_MANY = new Set(['light', 'door'])

function nounsOf(devices: Iterable<HomeDevice>): Nouns {
  const nouns = new Map<Kind, Map<string, number>>()
  for (const { kind, things, tokens } of devices) {
    const counts = nouns.get(kind) ?? new Map<string, number>()
    nouns.set(kind, counts)
    const own = tokens.map(singularNoun).filter(token => things.has(nounOf(token)?.thing ?? ''))
    const said = [...things].flatMap(thing => [thing, ...(ALSO_SAID[thing] ?? [])])
    for (const noun of new Set([...said, ...own])) counts.set(noun, (counts.get(noun) ?? 0) + 1)
  }
  return nouns
}

/** Nouns for matching kinds, with the number of devices each applies to. */
function countsOf(nouns: Nouns, fits: (kind: Kind) => boolean): [string, number][] {
  const counts = new Map<string, number>()
  for (const [kind, ofKind] of nouns)
    if (fits(kind)) for (const [noun, count] of ofKind) counts.set(noun, (counts.get(noun) ?? 0) + count)
  return [...counts]
}

/** "The thermostat" if there is only one; "the lights", "all the lights". */
function kindPhrases(nouns: readonly [string, number][]): string[] {
  return nouns.flatMap(([noun, count]) => {
    if (!isOne(noun, count)) return several(noun, count)
    return OFTEN_MANY.has(noun) ? [noun, plural(noun)] : [noun]
  })
}

/** A question may use the singular for one of several, and the plural even if there is only one. */
function anyOf(nouns: readonly [string, number][]): string[] {
  return nouns.flatMap(([noun, count]) => {
    if (ALWAYS_MANY.has(noun)) return []
    return isOne(noun, count) ? several(noun, count) : [noun]
  })
}

function isOne(noun: string, count: number): boolean {
  return count === 1 && !ALWAYS_MANY.has(noun)
}

function several(noun: string, count: number): string[] {
  const many = plural(noun)
  const two = count === 2 ? [`both ${many}`, `both the ${many}`] : []
  return [many, `all ${many}`, `all the ${many}`, `all of the ${many}`, `every ${noun}`, ...two]
}

function roomPhrases(room: string, nouns: readonly [string, number][]): string[] {
  return nouns.flatMap(([noun, count]) => {
    const many = plural(noun)
    const plain = isOne(noun, count) ? [noun, many] : [many]
    const all = count === 1 ? [] : several(noun, count)
    return [
      ...plain.map(said => `${room} ${said}`),
      ...new Set([...plain, ...all].map(said => `${said} in the ${room}`)),
    ]
  })
}

function inCommands(home: Home, list: string): string[] {
  if (list === 'covers') return inOtherRooms(home, ['blinds', 'curtains'])
  if (list === 'dimmable' || list === 'levelled')
    return [
      ...roomsWithLight(home),
      ...missingInRooms(home, ['light', 'lights', 'lamp']),
      ...inOtherRooms(home, ['light', 'lights', ...(list === 'levelled' ? ['blinds'] : [])]),
    ]
  if (list !== 'switchable') return []
  const missing = MISSING_DEVICES.filter(name => !isLikeOne(home, name))
  const rooms = [...home.rooms()].flatMap(([room]) => [room, `everything in the ${room}`])
  const inRooms = missingInRooms(home, ['light', 'lights', 'lamp', 'fan', 'heater', 'tv'])
  const inOthers = inOtherRooms(home, ['light', 'lights'])
  return ['everything', ...rooms, ...missing, ...inRooms, ...inOthers, ...otherNumbers(home)]
}

/** "Dining room light" if there is a living room, but no dining room: nothing else tells the two apart. */
function inOtherRooms(home: Home, nouns: readonly string[]): string[] {
  if (![...home.rooms()].some(([room]) => room.endsWith(' room'))) return []
  const others = OTHER_ROOMS.filter(room => !home.room(room.split(' ')))
  return others.flatMap(room => nouns.map(noun => `${room} ${noun}`))
}

/** "Office light" if the office has only a heater; otherwise "the office" would be heard and switch the heater. */
function missingInRooms(home: Home, nouns: readonly string[]): string[] {
  return [...home.rooms()].flatMap(([room, { devices }]) => {
    const things = new Set([...devices].flatMap(device => [...device.things]))
    const missing = nouns.filter(noun => !things.has(nounOf(noun)?.thing ?? ''))
    return missing.map(noun => `${room} ${noun}`).filter(name => home.called(name.split(' ')).length === 0)
  })
}

/** "Switch five" if there is a switch one: otherwise the nearest existing name would be heard. */
function otherNumbers(home: Home): string[] {
  const numbered = [...home.names()].map(([name]) => name.split(' ')).filter(isNumbered)
  const stems = new Set(numbered.map(words => words.slice(0, -1).join(' ')))
  const others = [...stems].flatMap(stem => NUMBERS.map(number => `${stem} ${number}`))
  return others.filter(name => home.called(name.split(' ')).length === 0)
}

function isNumbered(words: readonly string[]): boolean {
  return words.length > 1 && NUMBERS.includes(words.at(-1) ?? '')
}

/** "Dim the bedroom". */
function roomsWithLight(home: Home): string[] {
  return [...home.rooms()].flatMap(([room, { devices }]) =>
    [...devices].some(({ kind, isDead }) => kind === 'dimmer' && !isDead) ? [room] : [],
  )
}

/** Whether the home has a device of this name, or one that sounds like it. */
function isLikeOne(home: Home, name: string): boolean {
  const words = name.split(' ')
  return (
    words.every(word => home.knows(word)) || home.called(words).length > 0 || home.knows(words.at(-1) ?? '')
  )
}
