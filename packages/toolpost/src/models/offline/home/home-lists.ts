import { HOME_STATES } from '../../../known-servers/zwave-rules.ts'
import { type ListReader, WordList } from '../lists.ts'
import type { Home, HomeDevice } from './home.ts'
import { References } from './references.ts'

/** Which kinds of devices a list has. One whose kind is unknown may be anything. */
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
/** What was just spoken of, and is of that kind: list → the kinds. */
const JUST_NAMED: Readonly<Record<string, readonly string[]>> = {
  just_named: ['dimmer', 'cover'],
  just_switched: ['switch', 'dimmer'],
  just_moved: ['cover'],
  just_heated: ['thermostat'],
}
/** What no sentence needs to name if there is one: list → the kinds. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  the_light: ['dimmer'],
  the_thermostat: ['thermostat'],
  the_locks: ['lock'],
}
const TAKES_ROOMS = new Set(['switchable', 'dimmable', 'levelled', 'locks', 'heated'])
const TAKES_HOUSE = new Set(['switchable', 'locks'])

/** The lists that a home fills. */
export const HOME_LISTS: readonly string[] = [
  ...Object.keys(KINDS),
  ...Object.keys(UNNAMED),
  ...Object.keys(JUST_NAMED),
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
  const also = (name: string) => [name, ...(home.aliases[name] ?? [])]
  lists.set('scenes', new WordList(home.scenes.map(value => ({ value, say: also(value) }))))
  const rooms = [...home.rooms()].map(([say, { name }]) => ({ value: name, say: [say] }))
  lists.set('rooms', new WordList(rooms))
  lists.set('states', new WordList(Object.entries(HOME_STATES).map(([value, say]) => ({ value, say }))))
  return lists
}

/** Takes no words: the devices just spoken of, if they are of these, else the only one there is. */
function unnamed(home: Home, kinds: readonly string[], { isJustNamed = false } = {}): ListReader {
  return {
    phrases: () => [],
    read: ({ mentioned, chosen }) => {
      if (isJustNamed && mentioned.isSameSentence) return []
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
