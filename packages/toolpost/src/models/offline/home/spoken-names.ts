import { MISSING_DEVICES } from '../decoys.ts'
import { isSaid, wordsSaid } from '../spoken-form.ts'
import { nameTokens } from '../tokens.ts'
import type { Home, HomeDevice } from './home.ts'
import { fitsList } from './home-lists.ts'
import { nounOf, plural, singularNoun } from './nouns.ts'

const LISTS = new Set([
  'devices',
  'switchable',
  'dimmable',
  'levelled',
  'covers',
  'locks',
  'thermostats',
  'sensors',
])
const BY_ROOM = new Set(['devices', 'switchable', 'dimmable', 'levelled', 'covers'])

const NUMBERS = Array.from({ length: 12 }, (_, index) => String(index + 1))

/** How the devices of a list are spoken of, word by word; `undefined` if it is no list of devices. */
export function spokenNames(
  home: Home,
  list: string,
  { isCommand = false, isQuestion = false }: { isCommand?: boolean; isQuestion?: boolean },
): string[][] | undefined {
  if (!LISTS.has(list)) return undefined
  const fits = (device: HomeDevice) => fitsList(list, device)
  const devices = home.devices.filter(fits)
  const names = [...home.names()].flatMap(([name, called]) =>
    called.some(fits) ? [name, ...shorter(name, home)] : [],
  )
  const groups = [...home.groups()].flatMap(([name, members]) => (members.some(fits) ? [name] : []))
  const rooms = BY_ROOM.has(list) ? [...home.rooms()] : []
  const all = [
    ...names,
    ...groups,
    ...kindPhrases(devices, isQuestion),
    ...rooms.flatMap(([room, { devices: inside }]) => roomPhrases(room, [...inside].filter(fits))),
    ...(isCommand ? inCommands(home, list) : []),
  ]
  return [...new Set(all)].flatMap(phrase => inWords(home, phrase) ?? [])
}

/** The same phrases are in several lists. */
const said = new WeakMap<Home, Map<string, [string[]] | undefined>>()

/** A phrase as it is said, word by word; `undefined` if it cannot be. */
function inWords(home: Home, phrase: string): [string[]] | undefined {
  const known = said.get(home) ?? new Map<string, [string[]] | undefined>()
  said.set(home, known)
  if (known.has(phrase)) return known.get(phrase)
  const tokens = phrase.split(' ')
  const words: [string[]] | undefined = tokens.every(isSaid) ? [tokens.flatMap(wordsSaid)] : undefined
  known.set(phrase, words)
  return words
}

/** The devices and scenes that nobody can speak of: no name of theirs has letters that English has. */
export function unspeakableNames(home: Home): string[] {
  const spoken = new Set<HomeDevice>()
  for (const [name, devices] of home.names())
    if (name.split(' ').every(isSaid)) for (const device of devices) spoken.add(device)
  const isSpoken = (name: string) => nameTokens(name).every(isSaid)
  const scenes = home.scenes.filter(scene => ![scene, ...(home.aliases[scene] ?? [])].some(isSpoken))
  return [...home.devices.filter(device => !spoken.has(device)).map(({ call }) => call), ...scenes]
}

/** "Back door" for the back door lock: what it is goes without saying. */
function shorter(name: string, home: Home): string[] {
  const tokens = name.split(' ')
  const short = tokens.slice(0, -1)
  if (short.length < 2 || !nounOf(tokens.at(-1) ?? '') || !nounOf(short.at(-1) ?? '')) return []
  return home.room(short) || home.called(short).length > 0 ? [] : [short.join(' ')]
}

/** What else is said of a kind of thing, whatever its name is. */
const ALSO_SAID: Readonly<Record<string, readonly string[]>> = {
  thermostat: ['heating'],
  tv: ['television', 'telly'],
}
/** Said of one as of several. */
const ALWAYS_MANY = new Set(['blind', 'curtain', 'shade', 'shutter', 'drape'])

/** Nouns for devices, and how many of them each is said of. */
function nouns(devices: readonly HomeDevice[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { things, tokens } of devices) {
    const own = tokens.map(singularNoun).filter(token => things.has(nounOf(token)?.thing ?? ''))
    const said = [...things].flatMap(thing => [thing, ...(ALSO_SAID[thing] ?? [])])
    for (const noun of new Set([...said, ...own])) counts.set(noun, (counts.get(noun) ?? 0) + 1)
  }
  return counts
}

/** "The thermostat" if there is one; "the lights", "all the lights". A question may be about any one of several. */
function kindPhrases(devices: readonly HomeDevice[], isQuestion: boolean): string[] {
  return [...nouns(devices)].flatMap(([noun, count]) => {
    const isOne = count === 1 && !ALWAYS_MANY.has(noun)
    const one = isOne || (isQuestion && !ALWAYS_MANY.has(noun)) ? [noun] : []
    return isOne && !isQuestion ? one : [...one, ...several(noun, count)]
  })
}

function several(noun: string, count: number): string[] {
  const many = plural(noun)
  const two = count === 2 ? [`both ${many}`, `both the ${many}`] : []
  return [many, `all ${many}`, `all the ${many}`, `all of the ${many}`, `every ${noun}`, ...two]
}

function roomPhrases(room: string, devices: readonly HomeDevice[]): string[] {
  return [...nouns(devices)].flatMap(([noun, count]) => {
    const many = plural(noun)
    const plain = count === 1 && !ALWAYS_MANY.has(noun) ? [noun, many] : [many]
    const all = count === 1 ? [] : several(noun, count)
    return [
      ...plain.map(said => `${room} ${said}`),
      ...new Set([...plain, ...all].map(said => `${said} in the ${room}`)),
    ]
  })
}

function inCommands(home: Home, list: string): string[] {
  if (list === 'dimmable' || list === 'levelled') return roomsWithLight(home)
  if (list !== 'switchable') return []
  const missing = MISSING_DEVICES.filter(name => !isLikeOne(home, name))
  const rooms = [...home.rooms()].flatMap(([room]) => [room, `everything in the ${room}`])
  return ['everything', ...rooms, ...missing, ...otherNumbers(home)]
}

/** "Switch five" where there is a switch one: without it, the nearest that there is would be heard. */
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

/** What is there, or sounds like what is there, is not missing. */
function isLikeOne(home: Home, name: string): boolean {
  const words = name.split(' ')
  return (
    words.every(word => home.knows(word)) || home.called(words).length > 0 || home.knows(words.at(-1) ?? '')
  )
}
