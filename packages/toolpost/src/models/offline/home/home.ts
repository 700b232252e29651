import { nameTokens } from '../tokens.ts'
import { COMMON_ROOMS, nounOf, singularNoun } from './nouns.ts'

/** A device as a tool lists it. */
interface ListedDevice {
  name: string
  location?: string | undefined
  /** `switch`, `dimmer`, `cover`, `lock`, `thermostat`, `sensor`; if unknown, it may be anything. */
  kind?: string | undefined
  /** As text, when the list was read. */
  state?: string | undefined
  isDead?: boolean | undefined
}

/** The devices and scenes of a home, as its tools list them. */
export interface ListedHome {
  devices: readonly ListedDevice[]
  scenes: readonly string[]
}

/** The configuration's names for the home. */
export interface HomeWords {
  /** Room → names of the devices in it. */
  rooms?: Readonly<Record<string, readonly string[]>> | undefined
  /** Group → names of the devices in it. */
  groups?: Readonly<Record<string, readonly string[]>> | undefined
  /** Device, room, group or scene → its other names. */
  aliases?: Readonly<Record<string, readonly string[]>> | undefined
}

export interface HomeDevice extends ListedDevice {
  /** Its name in a call: with its location if the name is not unique. */
  readonly call: string
  readonly tokens: readonly string[]
  /** What it is: light, blind, lock … */
  readonly things: ReadonlySet<string>
  /** Every word that may refer to it. */
  readonly words: ReadonlySet<string>
  readonly rooms: readonly string[]
}

/** Devices beyond this are unknown here: they are called by name, and the tool finds them. */
const MAX_DEVICES = 20_000

/** The devices of a home, found by name and by every word that may refer to them. */
export class Home {
  readonly devices: readonly HomeDevice[]
  readonly scenes: readonly string[]
  readonly aliases: NonNullable<HomeWords['aliases']>
  /** The configuration's names for it. */
  readonly written: HomeWords
  readonly #byName = new Map<string, HomeDevice[]>()
  readonly #byWord = new Map<string, Set<HomeDevice>>()
  readonly #rooms = new Map<string, { name: string; devices: Set<HomeDevice> }>()
  readonly #groups = new Map<string, HomeDevice[]>()
  #byLetter: Map<string, string[]> | undefined

  constructor({ devices, scenes }: ListedHome, written: HomeWords = {}) {
    const { rooms = {}, groups = {}, aliases = {} } = written
    this.written = written
    this.aliases = aliases
    this.scenes = scenes
    const roomsOf = devicesTo(rooms)
    const taken = countNames(devices)
    this.devices = devices.slice(0, MAX_DEVICES).map(listed => {
      const isShared = (taken.get(key(listed.name)) ?? 0) > 1
      return describe(listed, { isShared, rooms: roomsOf.get(key(listed.name)) ?? [] })
    })
    for (const device of this.devices) this.#add(device)
    for (const [name, members] of Object.entries(groups)) {
      this.#groups.set(
        key(name),
        members.flatMap(member => this.called(nameTokens(member))),
      )
      this.#note(name, [])
    }
    for (const [name, others] of Object.entries(aliases)) for (const other of others) this.#alias(name, other)
  }

  #add(device: HomeDevice): void {
    for (const name of namesOf(device)) grow(this.#byName, key(name), device)
    for (const word of device.words) {
      const devices = this.#byWord.get(word) ?? new Set()
      this.#byWord.set(word, devices.add(device))
    }
    for (const name of device.rooms) {
      const room = this.#rooms.get(key(name)) ?? { name, devices: new Set() }
      room.devices.add(device)
      this.#rooms.set(key(name), room)
    }
  }

  #alias(name: string, other: string): void {
    const devices = this.called(nameTokens(name))
    for (const device of devices) grow(this.#byName, key(other), device)
    const room = this.#rooms.get(key(name))
    if (room) this.#rooms.set(key(other), room)
    const group = this.#groups.get(key(name))
    if (group) this.#groups.set(key(other), group)
    this.#note(other, [...devices, ...(room?.devices ?? [])])
  }

  /** Makes the words of another name refer to these devices too. */
  #note(name: string, devices: readonly HomeDevice[]): void {
    for (const word of nameTokens(name))
      this.#byWord.set(word, new Set([...(this.#byWord.get(word) ?? []), ...devices]))
  }

  /** The devices of exactly this name, with or without their location. */
  called(tokens: readonly string[]): HomeDevice[] {
    return this.#byName.get(tokens.join(' ')) ?? []
  }

  group(tokens: readonly string[]): readonly HomeDevice[] | undefined {
    return this.#groups.get(tokens.join(' '))
  }

  room(tokens: readonly string[]): { name: string; devices: ReadonlySet<HomeDevice> } | undefined {
    return this.#rooms.get(tokens.join(' '))
  }

  /** The devices this word may refer to. */
  withWord(word: string): ReadonlySet<HomeDevice> {
    return this.#byWord.get(word) ?? NONE
  }

  knows(word: string): boolean {
    return this.#byWord.has(word)
  }

  /** Known words that start with this letter. */
  wordsFrom(letter: string): readonly string[] {
    this.#byLetter ??= byFirstLetter(this.#byWord.keys())
    return this.#byLetter.get(letter) ?? []
  }

  names(): Iterable<readonly [string, readonly HomeDevice[]]> {
    return this.#byName
  }

  rooms(): Iterable<readonly [string, { name: string; devices: ReadonlySet<HomeDevice> }]> {
    return this.#rooms
  }

  groups(): Iterable<readonly [string, readonly HomeDevice[]]> {
    return this.#groups
  }
}

const NONE: ReadonlySet<HomeDevice> = new Set()

function key(name: string): string {
  return nameTokens(name).join(' ')
}

function grow(map: Map<string, HomeDevice[]>, at: string, device: HomeDevice): void {
  const devices = map.get(at) ?? []
  map.set(at, devices)
  if (at !== '' && !devices.includes(device)) devices.push(device)
}

function byFirstLetter(words: Iterable<string>): Map<string, string[]> {
  const letters = new Map<string, string[]>()
  for (const word of words) {
    const those = letters.get(word.charAt(0)) ?? []
    letters.set(word.charAt(0), those)
    those.push(word)
  }
  return letters
}

function countNames(devices: readonly ListedDevice[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { name } of devices) counts.set(key(name), (counts.get(key(name)) ?? 0) + 1)
  return counts
}

/** Device → its rooms in the configuration. */
function devicesTo(rooms: Readonly<Record<string, readonly string[]>>): Map<string, string[]> {
  const byDevice = new Map<string, string[]>()
  for (const [room, members] of Object.entries(rooms))
    for (const member of members) byDevice.set(key(member), [...(byDevice.get(key(member)) ?? []), room])
  return byDevice
}

function describe(
  listed: ListedDevice,
  { isShared, rooms }: { isShared: boolean; rooms: string[] },
): HomeDevice {
  const { name, location, kind } = listed
  const tokens = nameTokens(name)
  const inRooms = [...new Set([...rooms, ...(location ? [location] : []), ...roomsIn(tokens)])]
  const things = thingsOf(tokens, kind)
  const said = [...tokens, ...inRooms.flatMap(nameTokens), ...things]
  const words = new Set(said.flatMap(word => [word, singularNoun(word), nounOf(word)?.thing ?? word]))
  const call = isShared && location ? `${location} ${name}` : name
  return { ...listed, call, tokens, things, words, rooms: inRooms }
}

/** "Living Room Light" is in the living room. */
function roomsIn(tokens: readonly string[]): string[] {
  const name = ` ${tokens.join(' ')} `
  return COMMON_ROOMS.filter(room => name.includes(` ${room} `))
}

const THING_OF_KIND: Readonly<Record<string, string>> = {
  dimmer: 'light',
  cover: 'blind',
  lock: 'lock',
  thermostat: 'thermostat',
  sensor: 'sensor',
}
/** These apply whatever the name: the lock of the back door is a lock. */
const ALWAYS = new Set(['lock', 'thermostat', 'sensor'])

function thingsOf(tokens: readonly string[], kind: string | undefined): Set<string> {
  const all = tokens.flatMap(token => thingCalled(token) ?? []).filter(thing => thing !== 'garage')
  // A window blind is not a window.
  const named = all.includes('blind') ? all.filter(thing => thing !== 'window' && thing !== 'door') : all
  const byKind = kind === undefined ? undefined : THING_OF_KIND[kind]
  const counts = byKind !== undefined && (named.length === 0 || ALWAYS.has(byKind))
  // A lock whose name says nothing else is on a door.
  const isDoor = kind === 'lock' && named.every(thing => thing === 'lock')
  return new Set([...named, ...(counts ? [byKind] : []), ...(isDoor ? ['door'] : [])])
}

/** The kind of thing that a word of a name stands for; a floodlight is a light, too. */
function thingCalled(token: string): string | undefined {
  return (
    nounOf(token)?.thing ?? (/.(?:lights?|lamps?|lampen?|leuchten?|licht)$/.test(token) ? 'light' : undefined)
  )
}

function namesOf({ name, location }: HomeDevice): string[] {
  return location ? [name, `${location} ${name}`, `${name} ${location}`] : [name]
}
