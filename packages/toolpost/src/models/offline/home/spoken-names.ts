import { MISSING_DEVICES } from '../decoys.ts'
import { isSaid, wordsSaid } from '../spoken-form.ts'
import type { Home, HomeDevice } from './home.ts'
import { fitsList } from './home-lists.ts'
import { nounOf, plural } from './nouns.ts'

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

/** How the devices of a list are spoken of, word by word; `undefined` if it is no list of devices. */
export function spokenNames(
  home: Home,
  list: string,
  { isCommand }: { isCommand: boolean },
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
    ...kindPhrases(devices),
    ...rooms.flatMap(([room, { devices: inside }]) => roomPhrases(room, [...inside].filter(fits))),
    ...(isCommand ? inCommands(home, list) : []),
  ]
  const phrases = [...new Set(all)].map(phrase => phrase.split(' '))
  return phrases.flatMap(tokens => (tokens.every(isSaid) ? [tokens.flatMap(wordsSaid)] : []))
}

/** "Back door" for the back door lock: what it is goes without saying. */
function shorter(name: string, home: Home): string[] {
  const tokens = name.split(' ')
  const short = tokens.slice(0, -1)
  if (short.length < 2 || !nounOf(tokens.at(-1) ?? '') || !nounOf(short.at(-1) ?? '')) return []
  return home.room(short) || home.called(short).length > 0 ? [] : [short.join(' ')]
}

function things(devices: readonly HomeDevice[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { things: all } of devices)
    for (const thing of all) counts.set(thing, (counts.get(thing) ?? 0) + 1)
  return counts
}

/** "The thermostat" if there is one; "the lights", "all the lights". */
function kindPhrases(devices: readonly HomeDevice[]): string[] {
  return [...things(devices)].flatMap(([thing, count]) => {
    const many = plural(thing)
    const several = [many, `all ${many}`, `all the ${many}`]
    if (count === 1) return thing === 'blind' ? several : [thing]
    return several
  })
}

function roomPhrases(room: string, devices: readonly HomeDevice[]): string[] {
  return [...things(devices)].flatMap(([thing, count]) => {
    const nouns = count === 1 && thing !== 'blind' ? [thing, plural(thing)] : [plural(thing)]
    return nouns.flatMap(noun => [`${room} ${noun}`, `${noun} in the ${room}`])
  })
}

function inCommands(home: Home, list: string): string[] {
  if (list !== 'switchable') return []
  const missing = MISSING_DEVICES.filter(name => !isLikeOne(home, name))
  const rooms = [...home.rooms()].flatMap(([room]) => [room, `everything in the ${room}`])
  return ['everything', ...rooms, ...missing]
}

/** What is there, or sounds like what is there, is not missing. */
function isLikeOne(home: Home, name: string): boolean {
  const words = name.split(' ')
  return (
    words.every(word => home.knows(word)) || home.called(words).length > 0 || home.knows(words.at(-1) ?? '')
  )
}
