import { type ListEntry, type ListReader, WordList } from '../lists.ts'
import { ZWAVE } from '../zwave.ts'
import type { Home, HomeDevice } from './home.ts'
import { otherWords } from './nouns.ts'
import { References } from './references.ts'

/** The kinds of devices in a list. A device of unknown kind is in all of them. */
const KINDS: Readonly<Record<string, readonly string[] | undefined>> = {
  devices: undefined,
  switchable: ['switch', 'dimmer'],
  dimmable: ['dimmer'],
  levelled: ['dimmer', 'cover'],
  covers: ['cover'],
  locks: ['lock'],
  thermostats: ['thermostat'],
  heated: ['thermostat'],
  sensors: ['sensor'],
}
/** The devices just mentioned, if of these kinds. */
const JUST_NAMED: Readonly<Record<string, readonly string[]>> = {
  just_named: ['dimmer', 'cover'],
  just_switched: ['switch', 'dimmer'],
  just_moved: ['cover'],
  just_heated: ['thermostat'],
}
/** Devices that need not be named if there is only one of these kinds. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  the_light: ['dimmer'],
  the_thermostat: ['thermostat'],
  the_locks: ['lock'],
}
const TAKES_ROOMS = new Set(['switchable', 'dimmable', 'levelled', 'locks', 'heated'])
const TAKES_HOUSE = new Set(['switchable', 'locks'])

/** The lists filled by a home. */
export const HOME_LISTS: readonly string[] = [
  ...Object.keys(KINDS),
  ...Object.keys(UNNAMED),
  ...Object.keys(JUST_NAMED),
  'just_felt',
  'scenes',
  'rooms',
  'states',
]

export function fitsList(list: string, { kind }: Pick<HomeDevice, 'kind'>): boolean {
  const kinds = KINDS[list]
  return kinds === undefined || kind === undefined || kinds.includes(kind)
}

export function homeLists(home: Home): Map<string, ListReader> {
  const lists = new Map<string, ListReader>()
  for (const list of Object.keys(KINDS)) {
    const fits = (device: HomeDevice) => fitsList(list, device)
    lists.set(
      list,
      new References({ home, fits, takesRooms: TAKES_ROOMS.has(list), takesHouse: TAKES_HOUSE.has(list) }),
    )
  }
  for (const [list, kinds] of Object.entries(UNNAMED)) lists.set(list, unnamed(home, kinds))
  for (const [list, kinds] of Object.entries(JUST_NAMED))
    lists.set(list, unnamed(home, kinds, { isJustNamed: true }))
  lists.set('just_felt', justFelt(home))
  const also = (name: string) => [name, ...(home.aliases[name] ?? [])]
  lists.set('scenes', new WordList(home.scenes.map(value => ({ value, say: also(value) }))))
  lists.set('rooms', new WordList(roomEntries(home)))
  lists.set('states', new WordList(Object.entries(ZWAVE.states).map(([value, say]) => ({ value, say }))))
  return lists
}

/** Rooms by name, and by synonyms that are not themselves room names: "in the hallway", "in Anna's", "in the office of Anna". */
function roomEntries(home: Home): ListEntry[] {
  const rooms = [...home.rooms()].map(([say, { name }]) => ({ value: name, say }))
  const others = rooms.flatMap(({ value, say }) =>
    otherNames(value, say).map(other => ({ value, say: other })),
  )
  const unheard = others.filter(({ say }) => !home.room(say.split(' ')))
  return [...rooms, ...unheard].map(({ value, say }) => ({ value, say: [say] }))
}

function otherNames(name: string, said: string): string[] {
  const tokens = said.split(' ')
  const others = tokens.flatMap((token, at) =>
    otherWords(token).map(other => tokens.with(at, other).join(' ')),
  )
  const [owner, ...owned] = tokens
  if (!/^[^\s'’]+['’]s /.test(name)) return others
  const reversed = [...owned, 'of', owner].join(' ')
  return /['’]s room$/i.test(name) ? [...others, reversed, owner ?? ''] : [...others, reversed]
}

/** Consumes no words: the thermostats, if the temperature was just asked for. */
function justFelt(home: Home): ListReader {
  const thermostats = unnamed(home, ['thermostat'])
  const isFelt = ({ kind, state = '' }: HomeDevice) => kind === 'sensor' && /°[CF]/.test(state)
  return {
    phrases: () => [],
    read: (request, at) => {
      const { devices, isSound, isSameSentence } = request.mentioned
      const wasAsked = home.devices.some(device => devices.includes(device.call) && isFelt(device))
      return wasAsked && !isSound && !isSameSentence ? thermostats.read(request, at) : []
    },
  }
}

/** Consumes no words: the devices just mentioned, if they are of these kinds, else all of these kinds. */
function unnamed(home: Home, kinds: readonly string[], { isJustNamed = false } = {}): ListReader {
  return {
    phrases: () => [],
    read: ({ mentioned, chosen }) => {
      if (isJustNamed && (mentioned.isSameSentence || mentioned.isSound)) return []
      const all = home.devices.filter(({ kind, isDead }) => !isDead && kinds.includes(kind ?? ''))
      const spokenOf = all.filter(({ call }) => (chosen ?? mentioned.devices).includes(call))
      const devices = spokenOf.length > 0 || isJustNamed ? spokenOf : all
      if (devices.length === 0) return []
      const value = {
        kind: 'reference',
        devices,
        isAll: spokenOf.length > 0 || kinds.includes('lock'),
        unfit: [],
      }
      return [{ value, used: 0, weight: 0, free: 0 }]
    },
  }
}
