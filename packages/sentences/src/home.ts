import { type NumberReader, Phrases } from './numbers.ts'
import { valueAt } from './response.ts'
import { keysOf, type Token } from './text.ts'

/** What the configuration adds to the listed home. */
export interface HomeSettings {
  rooms?: Readonly<Record<string, readonly string[]>> | undefined
  floors?: Readonly<Record<string, readonly string[]>> | undefined
  groups?: Readonly<Record<string, readonly string[]>> | undefined
  aliases?: Readonly<Record<string, readonly string[]>> | undefined
}

/** A kind of devices, such as lights. */
interface KindWords {
  /** Listed kinds that always belong to it. */
  of?: string[]
  /** Listed kinds that belong to it if their name has one of these words. */
  named?: Record<string, string[]>
  /** Listed kinds that belong to it if their state looks like this. */
  state?: Record<string, string>
  /** Words in the name of a device that belongs to it by none of these. */
  not?: string[]
  /** How it is called; the words in `broad` mean all of its devices, whatever their names. */
  words?: string[]
  broad?: string[]
  /** How several of them are called aloud. */
  spoken?: string[]
}

const CLASSES = 'the all both everything except in and it them other one here house'.split(' ') as WordClass[]
type WordClass = 'the' | 'all' | 'both' | 'everything' | 'except' | 'in' | 'and' | Noun
type Noun = 'it' | 'them' | 'other' | 'one' | 'here' | 'house'

/** How a language speaks of a home; the classes are words with a role in names: articles, quantifiers, pronouns. */
export interface HomeWords extends Partial<Record<WordClass, string[]>> {
  /** The tool that lists the home, and the fields of its result. */
  listing?: {
    tool: string
    args?: Record<string, unknown>
    devices: string
    name: string
    area?: string
    floor?: string
    kind: string
    state?: string
    dead?: Record<string, unknown>
    /** List name → field of the result. */
    lists?: Record<string, string>
  }
  /** The argument that takes a device's name. */
  argument?: string
  /** Endings of plurals and what stands there in the singular; words whose plural they do not show. */
  plurals?: [string, string][]
  plural_words?: string[]
  /** Where the readings of a device are in a result, and the name and text of one. */
  reading?: { list: string; name?: string; text: string }
  /** State → what it looks like. */
  states?: Record<string, string>
  /** Names are written in lower case within a sentence. */
  lowercase?: boolean
  same?: Record<string, string>
  kinds?: Record<string, KindWords>
}

export interface Device {
  name: string
  /** The name that a call uses. */
  id: string
  area?: string | undefined
  floor?: string | undefined
  kind: string
  state: string
  isDead: boolean
  /** The kinds it belongs to. */
  kinds: ReadonlySet<string>
}

/** A part of what a name slot took: "all the lights in the kitchen". */
interface Item {
  words: string[]
  /** The words after "in". */
  place: string[]
  isPlural?: boolean
  isAll?: boolean
  isBoth?: boolean
  isEverything?: boolean
  isHere?: boolean
  isHouse?: boolean
  isOne?: boolean
  isOther?: boolean
  pronoun?: 'it' | 'them'
  /** Words that follow belong to the place. */
  isPlace?: boolean
  /** May end here. */
  isWhole?: boolean
  text: string
}

/** What a name slot took; which devices it means depends on what is to be done with them. */
export interface NamePhrase {
  key: string
  items: Item[]
  except: Item[]
}

/** What is known of the conversation and the purpose when a phrase is resolved. */
interface ResolveOptions {
  /** Kinds that can be meant; all if left out. */
  kinds?: readonly string[] | undefined
  /** What a bare room stands for: "turn off the kitchen" are its lights. */
  roomKind?: string | undefined
  /** Only these: the ones a question offered. */
  among?: readonly string[] | undefined
  /** "it" and "them". */
  last?: { it: readonly string[]; them: readonly string[] } | undefined
  /** "here". */
  area?: string | undefined
  /** "The lights" are those of the area, if it has some. */
  prefersArea?: boolean | undefined
}

export type Resolved =
  | { devices: Device[] }
  | { problem: 'which'; devices: Device[]; text: string }
  | { problem: 'unknown'; text: string }
  | { problem: 'here'; text: string }

interface Found<Value> {
  end: number
  value: Value
  cost: number
}

/** How a device is called. */
interface Called {
  name: ReadonlySet<string>
  /** Also by its room, floor and other names. */
  all: ReadonlySet<string>
  /** Also by its kinds; the first only by words that are broad. */
  broadly: ReadonlySet<string>
  byKind: ReadonlySet<string>
}

const MAX_DEVICES = 5_000
const MAX_RUN = 8
const MAX_ITEMS = 12
const MAX_MORE_WORDS = 2

/** The devices of a home and how they are called. */
export class Home {
  readonly devices: readonly Device[]
  /** Rooms, then floors. */
  readonly places: readonly string[]
  readonly words: HomeWords
  readonly #numbers: NumberReader
  readonly #byId: ReadonlyMap<string, Device>
  readonly #groups = new Map<string, readonly string[]>()
  /** The words of a place, sorted → its name. */
  readonly #placeKeys = new Map<string, string>()
  readonly #called = new Map<Device, Called>()
  /** Word → devices that are called so. */
  readonly #byWord = new Map<string, Set<Device>>()
  readonly #kindWords = new Set<string>()
  readonly #broad = new Set<string>()
  readonly #nouns = new Set<string>()
  /** Names as sorted words → devices with exactly that name. */
  readonly #exact = new Map<string, { device: Device; isPlural: boolean }[]>()
  readonly #compounds = new Map<string, string[]>()
  readonly #classes: Phrases<WordClass>

  /** `listed` is the result of the listing tool. */
  constructor(listed: unknown, words: HomeWords, numbers: NumberReader, settings: HomeSettings = {}) {
    this.words = words
    this.#numbers = numbers
    this.#classes = new Phrases(
      CLASSES.flatMap(name => (words[name] ?? []).map(text => [text, name] as const)),
    )
    const { rooms = {}, aliases = {}, floors = {}, groups = {} } = settings
    const data = devicesIn(listed, words)
    const roomOf = ({ name, area }: Device) =>
      Object.keys(rooms).find(room => rooms[room]?.includes(name)) ?? area
    const areas = [...new Set([...data.flatMap(each => roomOf(each) ?? []), ...Object.keys(rooms)])]
    const floorOf = (area: string | undefined) =>
      Object.keys(floors).find(floor => area !== undefined && floors[floor]?.includes(area))
    const count = new Map<string, number>()
    for (const { name } of data) count.set(name, (count.get(name) ?? 0) + 1)
    this.devices = data.map(each => {
      const isTwice = (count.get(each.name) ?? 0) > 1
      const area = roomOf(each) ?? this.#areaIn(each.name, areas)
      const id = isTwice && each.area ? `${each.area} ${each.name}` : each.name
      return { ...each, id, area, floor: each.floor ?? floorOf(area), kinds: this.#kindsOf(each) }
    })
    this.#byId = new Map(this.devices.map(device => [device.id, device]))
    this.places = [...new Set([...areas, ...this.devices.flatMap(({ floor }) => floor ?? [])])]
    for (const place of this.places)
      for (const key of [place, ...(aliases[place] ?? [])]) {
        this.#placeKeys.set(sorted(this.#canonical(key)), place)
        this.#compound(key)
      }
    for (const device of this.devices) this.#index(device, aliases)
    for (const [name, members] of Object.entries(groups)) {
      this.#groups.set(sorted(this.#canonical(name)), members)
      for (const word of this.#canonical(name)) if (!this.#byWord.has(word)) this.#byWord.set(word, new Set())
    }
  }

  /** Changes whenever what can be said does. */
  get key(): string {
    return JSON.stringify(
      this.devices.map(({ id, area, floor, isDead, kinds }) => [id, area, floor, isDead, ...kinds]),
    )
  }

  /** All words that are no misspellings of others. */
  *vocabulary(): Generator<string> {
    yield* this.#byWord.keys()
    yield* this.#compounds.keys()
    yield* this.#classes.words()
    yield* Object.keys(this.words.same ?? {})
  }

  device(id: string): Device | undefined {
    return this.#byId.get(id)
  }

  /** Every name phrase that starts at a token. */
  readonly namesAt = (tokens: readonly Token[], pos: number): Found<NamePhrase>[] => {
    const found: Found<NamePhrase>[] = []
    const grow = (items: Item[], except: Item[] | undefined, at: number, costBefore: number) => {
      if (items.length + (except?.length ?? 0) > MAX_ITEMS) return
      for (const { item: read, end } of this.#itemsFrom(tokens, at, { words: [], place: [], text: '' })) {
        const said = tokens.slice(at, end).map(({ key }) => key)
        const item = { ...read, text: said.join(' ') }
        const next = except ? { items, except: [...except, item] } : { items: [...items, item], except: [] }
        const { isAll, isOne, place } = item
        const cost = costBefore + (isAll ? 0.25 : 0.2) + (isOne ? 0.5 : 0) + place.length / 100
        found.push({ end, value: { ...next, key: `${pos} ${found.length}` }, cost })
        if (tokens[end]?.afterBreak) grow(next.items, except && next.except, end, cost)
        for (const { value, end: after } of this.#classes.at(tokens, end))
          if (value === 'and') grow(next.items, except && next.except, after, cost)
          else if (value === 'except' && !except) grow(next.items, [], after, cost)
      }
    }
    grow([], undefined, pos, 0)
    return found
  }

  /** Every room or floor whose name starts at a token. */
  readonly placesAt = (tokens: readonly Token[], pos: number): Found<string>[] => {
    const found: Found<string>[] = []
    const words: string[] = []
    let word = this.#wordAt(tokens, pos)
    for (; word && words.length < MAX_RUN; word = this.#wordAt(tokens, word.end)) {
      words.push(...word.words)
      const place = this.#placeOf(words)
      if (place !== undefined) found.push({ end: word.end, value: place, cost: 0 })
    }
    return found
  }

  /** The devices that a phrase means. */
  resolve({ items, except }: NamePhrase, options: ResolveOptions = {}): Resolved {
    const left = new Set<Device>()
    for (const at of items.keys()) {
      const resolved = this.#resolveItem(this.#inContext(items, at, options), options)
      if ('problem' in resolved) return resolved
      for (const device of resolved.devices) left.add(device)
    }
    for (const item of except) {
      const resolved = this.#resolveItem({ ...item, isAll: true }, { ...options, roomKind: undefined })
      if ('problem' in resolved) return resolved
      for (const device of resolved.devices) left.delete(device)
    }
    return left.size > 0 ? { devices: [...left] } : { problem: 'unknown', text: items[0]?.text ?? '' }
  }

  /** Devices of a kind, in a room or on a floor if one is given. */
  ofKind(kinds: readonly string[], place?: string): Device[] {
    const isThere = (device: Device) => place === undefined || isIn(device, place)
    return alive(this.devices.filter(device => isOneOf(device, kinds) && isThere(device)))
  }

  /** Devices whose whole name is in a text, with hardly anything else. */
  namedIn(text: string, kinds: readonly string[] | undefined): Device[] {
    const words = this.#canonical(text)
    const isNamed = ({ name }: Device) => {
      const own = this.#canonical(name)
      return own.length + MAX_MORE_WORDS >= words.length && own.every(word => words.includes(word))
    }
    return this.devices.filter(device => isOneOf(device, kinds) && isNamed(device))
  }

  /** How devices of these kinds may be called, for a speech recogniser. */
  *spokenNames(kinds: readonly string[] | undefined): Generator<string[]> {
    const [the = '', within = '', all = ''] = [this.words.the?.[0], this.words.in?.[0], this.words.all?.[0]]
    const meant = this.devices.filter(device => isOneOf(device, kinds))
    const names = meant.flatMap(({ name, area = '' }) => {
      const [words, room] = [keysOf(name).filter(isWord), keysOf(area)]
      return room.every(word => words.includes(word)) ? [words] : [words, [...room, ...words]]
    })
    for (const [kind, { spoken = [] }] of Object.entries(this.words.kinds ?? {})) {
      const rooms = new Set(meant.filter(device => device.kinds.has(kind)).map(({ area }) => area))
      for (const noun of rooms.size > 0 ? spoken : []) {
        names.push([noun])
        yield [all, the, noun]
        for (const room of rooms)
          if (room) names.push([...keysOf(room), noun], [noun, within, the, ...keysOf(room)])
      }
    }
    for (const name of names) yield* [name, [the, ...name]]
  }

  /** The same phrase in a place: "the light" … "in the kitchen", "here", "in the house". */
  within(phrase: NamePhrase, area: unknown, scope: unknown): NamePhrase {
    const place = typeof area === 'string' ? this.#canonical(area) : []
    const [isHere, isHouse] = [scope === 'here', scope === 'house']
    const items = phrase.items.map(item => ({
      ...item,
      place: [...item.place, ...place],
      ...(isHere && { isHere }),
      ...(isHouse && { isHouse }),
    }))
    return { ...phrase, items }
  }

  isPluralName(name: string): boolean {
    return this.#isPlural(keysOf(name).at(-1) ?? '')
  }

  #areaIn(name: string, areas: readonly string[]): string | undefined {
    const words = this.#canonical(name)
    const starts = (area: string) => this.#canonical(area).every((word, at) => words[at] === word)
    return areas.filter(starts).sort((one, other) => other.length - one.length)[0]
  }

  #kindsOf({ kind, name, state }: Device): ReadonlySet<string> {
    const words = this.#canonical(name)
    const isOf = ({ of = [], named = {}, state: states = {}, not = [] }: KindWords) => {
      if (not.some(word => words.includes(word))) return false
      const looks = states[kind]
      const isNamed = named[kind]?.some(word => words.includes(this.#canon(word)))
      return of.includes(kind) || isNamed || (looks !== undefined && new RegExp(looks, 'i').test(state))
    }
    const all = Object.entries(this.words.kinds ?? {}).filter(([, each]) => isOf(each))
    return new Set([kind, ...all.map(([each]) => each)])
  }

  #index(device: Device, aliases: NonNullable<HomeSettings['aliases']>): void {
    const { name: full, id, area = '', floor = '' } = device
    const name = this.#canonical(full)
    const room = this.#canonical(area)
    const aliased = aliases[id] ?? aliases[full] ?? []
    const others = aliased.map(alias => this.#canonical(alias))
    for (const text of [full, ...aliased]) this.#compound(text)
    const places = [area, ...(aliases[area] ?? []), floor, ...(aliases[floor] ?? [])]
    const isPlural = this.isPluralName(full)
    for (const words of [name, [...room, ...name], ...others]) {
      const known = this.#exact.get(sorted(words)) ?? []
      if (!known.some(each => each.device === device)) known.push({ device, isPlural })
      this.#exact.set(sorted(words), known)
    }
    const noun = name.findLast(word => !/\d/.test(word))
    if (noun) this.#nouns.add(noun)
    const kinds = [...device.kinds].flatMap(kind => this.words.kinds?.[kind] ?? [])
    const canonical = (texts: readonly string[] = []) => texts.map(text => this.#canon(text))
    const broad = kinds.flatMap(kind => canonical(kind.broad))
    const narrow = kinds.flatMap(kind => canonical(kind.words))
    for (const word of broad) this.#broad.add(word)
    for (const word of [...broad, ...narrow]) {
      this.#nouns.add(word)
      this.#kindWords.add(word)
    }
    const all = new Set([...name, ...others.flat(), ...places.flatMap(place => this.#canonical(place))])
    const broadly = new Set([...all, ...broad])
    const byKind = new Set([...broadly, ...narrow])
    this.#called.set(device, { name: new Set([...name, ...others.flat()]), all, broadly, byKind })
    for (const word of byKind) this.#byWord.set(word, (this.#byWord.get(word) ?? new Set()).add(device))
  }

  /** "livingroom", "switchone": words of a name written as one. */
  #compound(text: string): void {
    const keys = keysOf(text).filter(isWord)
    for (const [at] of keys.entries())
      for (const part of [keys.slice(at, at + 2), keys.slice(at, at + 3)]) {
        const words = part.map(key => this.#canon(key))
        if (part.length > 1) for (const each of [part, words]) this.#compounds.set(each.join(''), words)
      }
  }

  #canonical(text: string): string[] {
    const keys = keysOf(text).filter(isWord)
    return keys.map(key => this.#canon(key))
  }

  #canon(key: string): string {
    const { same = {} } = this.words
    if (same[key] !== undefined) return this.#singular(same[key])
    const single = this.#singular(key)
    return this.#numbers.digitOf(key) ?? this.#singular(same[single] ?? single)
  }

  #singular(key: string): string {
    const found = this.words.plurals?.find(
      ([ending]) => key.endsWith(ending) && key.length > ending.length + 1,
    )
    return found ? key.slice(0, -found[0].length) + found[1] : key
  }

  #isPlural(key: string): boolean {
    return this.#singular(key) !== key || this.words.plural_words?.includes(key) === true
  }

  /** Every way to read an item on: articles and quantifiers, words of names, rooms and kinds, then a place. */
  *#itemsFrom(tokens: readonly Token[], at: number, item: Item): Generator<{ item: Item; end: number }> {
    for (const { value, end } of this.#classes.at(tokens, at)) {
      const next = withClass(item, value)
      if (next?.isWhole) yield { item: next, end }
      if (next && !next.pronoun) yield* this.#itemsFrom(tokens, end, next)
    }
    const word = this.#wordAt(tokens, at)
    if (!word || item.words.length + item.place.length >= MAX_RUN || item.isHere) return
    if (item.isEverything && !item.isPlace) return
    const { words, isPlural } = word
    const next = item.isPlace
      ? { ...item, place: [...item.place, ...words], isWhole: true }
      : { ...item, words: [...item.words, ...words], isPlural: item.isPlural || isPlural, isWhole: true }
    yield { item: next, end: word.end }
    yield* this.#itemsFrom(tokens, word.end, next)
  }

  /** A word of the home: also two written as one, or one written as two or three. */
  #wordAt(
    tokens: readonly Token[],
    pos: number,
  ): { words: string[]; end: number; isPlural: boolean } | undefined {
    const token = tokens[pos]
    if (!token) return undefined
    for (const key of [token.key, ...token.corrections]) {
      const words = (this.words.same?.[key] ?? key).split(' ').map(word => this.#canon(word))
      if (words.every(word => this.#byWord.has(word)))
        return { words, end: pos + 1, isPlural: this.#nouns.has(words.at(-1) ?? '') && this.#isPlural(key) }
      const parts = this.#compounds.get(words[0] ?? '') ?? this.#compounds.get(key)
      if (parts) return { words: parts, end: pos + 1, isPlural: this.#isPlural(key) }
    }
    for (const size of [3, 2]) {
      const parts = tokens.slice(pos, pos + size).map(({ key }) => key)
      const word = this.#canon(parts.join(''))
      if (parts.length === size && this.#byWord.has(word))
        return { words: [word], end: pos + size, isPlural: false }
    }
    return undefined
  }

  /** Fills in what an item shares with its neighbours: "the kitchen and bedroom lights", "the lights and the tv in the den". */
  #inContext(items: readonly Item[], at: number, options: ResolveOptions): Item {
    const item = items[at] as Item
    if (item.pronoun || item.isEverything || items.length === 1) return item
    const { place = [] } = items.at(-1) ?? {}
    const hasNoun = this.#exact.has(sorted(item.words)) || item.words.some(word => this.#kindWords.has(word))
    const withNoun = [items[at + 1], items[at - 1]].flatMap(other => {
      const noun = other?.words.findLast(word => this.#nouns.has(word) && !item.words.includes(word))
      if (hasNoun || noun === undefined) return []
      return [{ ...item, words: [...item.words, noun], isPlural: other?.isPlural === true }]
    })
    const withPlace = item.place.length === 0 && place.length > 0 ? [{ ...item, place }] : []
    const isFound = (each: Item) => !('problem' in this.#resolveItem(each, options))
    return [...withNoun, ...withPlace].find(isFound) ?? item
  }

  #resolveItem(item: Item, options: ResolveOptions): Resolved {
    const { text, isHere, isHouse, isEverything, isOther } = item
    const { area, last, among, kinds } = options
    if (item.pronoun || (item.isBoth && item.words.length === 0)) return this.#pronoun(item, options)
    if (isHere && area === undefined) return { problem: 'here', text }
    const isMeant = (device: Device) =>
      isOneOf(device, kinds) &&
      (!among || among.includes(device.id)) &&
      (!isHere || isIn(device, area)) &&
      (!isOther || !last?.them.includes(device.id))
    const words = [...new Set([...item.words, ...item.place])]
    const group = this.#groups.get(sorted(words))
    if (group)
      return { devices: this.devices.filter(({ id, name }) => group.includes(id) || group.includes(name)) }
    if (isOther && (!last || words.length === 0)) return this.#other(text, options)
    if (words.length === 0) {
      const all = alive(this.devices.filter(isMeant))
      if (isEverything) return all.length > 0 ? { devices: all } : { problem: 'unknown', text }
      return options.roomKind && (isHere || isHouse)
        ? usual(all, text, options)
        : { problem: 'unknown', text }
    }
    const exact = (this.#exact.get(sorted(words)) ?? []).filter(each => isMeant(each.device))
    const named = exact.filter(({ isPlural }) => isPlural || !item.isPlural).map(({ device }) => device)
    if (named.length === 1 && !isHouse) return { devices: named }
    const place = item.isOne ? undefined : this.#placeOf(words)
    if (place !== undefined && !isEverything && !among)
      return usual(
        alive(this.devices.filter(device => isIn(device, place) && isOneOf(device, kinds))),
        text,
        options,
      )
    const found = this.#within(alive(this.#calledAll(words, isMeant, isEverything)), words, item)
    if (!found) return { problem: 'unknown', text }
    const near = found.filter(device => isIn(device, area))
    const isNear =
      options.prefersArea && !item.isAll && !isHouse && near.length > 0 && near.length < found.length
    const devices = isNear ? near : found
    const isBroad = item.words.some(word => this.#broad.has(word))
    const isScoped = isBroad && (words.length > 1 || isHere || isHouse || isNear)
    const areMany = item.isAll || item.isPlural || isEverything || isScoped || isHouse
    const isUnclear = item.isBoth ? devices.length !== 2 : devices.length > 1 && !areMany
    return isUnclear ? { problem: 'which', devices, text } : { devices }
  }

  #pronoun({ pronoun = 'them', text, isBoth }: Item, { last, kinds, among }: ResolveOptions): Resolved {
    const ids = isBoth && among ? among : (last?.[pronoun] ?? [])
    const devices = ids.flatMap(id => this.device(id) ?? [])
    const areFitting = devices.length > 0 && devices.every(device => isOneOf(device, kinds))
    return areFitting && (!isBoth || devices.length === 2) ? { devices } : { problem: 'unknown', text }
  }

  /** The one other device like those spoken of: "the other one". */
  #other(text: string, { last, kinds }: ResolveOptions): Resolved {
    const ids = last?.them ?? []
    const words = new Set(ids.flatMap(id => this.#canonical(this.device(id)?.name ?? '')))
    const scored = this.devices
      .filter(device => !ids.includes(device.id) && isOneOf(device, kinds))
      .map(device => ({ device, score: this.#canonical(device.name).filter(word => words.has(word)).length }))
    const best = Math.max(1, ...scored.map(({ score }) => score))
    const alike = scored.filter(({ score }) => score === best).map(({ device }) => device)
    return alike.length === 1 ? { devices: alike } : { problem: 'unknown', text }
  }

  /** A room or floor with these words, or the only room whose name has them. */
  #placeOf(words: readonly string[]): string | undefined {
    const exact = this.#placeKeys.get(sorted(words))
    if (exact !== undefined) return exact
    if (words.some(word => this.#kindWords.has(word) || /\d/.test(word))) return undefined
    const parts = [...this.#placeKeys].filter(([key]) => words.every(word => key.split(' ').includes(word)))
    const places = new Set(parts.map(([, place]) => place))
    return places.size === 1 ? [...places][0] : undefined
  }

  /** Devices that are called by all the words: by name and place if possible, otherwise also by kind. */
  #calledAll(words: readonly string[], isMeant: (device: Device) => boolean, isEverything = false): Device[] {
    const sets = words.map(word => this.#byWord.get(word) ?? new Set<Device>())
    const [smallest = new Set<Device>()] = sets.sort((one, other) => one.size - other.size)
    const all =
      this.devices.length > 100 ? [...smallest] : this.devices.filter(device => smallest.has(device))
    const by = (how: 'broadly' | 'byKind') =>
      all.filter(device => isMeant(device) && words.every(word => this.#called.get(device)?.[how].has(word)))
    const literal = by('broadly')
    return literal.length > 0 || isEverything ? literal : by('byKind')
  }

  /** Those in the place that the words name in full. Parts of the names of several places name none. */
  #within(found: Device[], words: readonly string[], { isAll }: Item): Device[] | undefined {
    const keys = [...this.#placeKeys.keys()].filter(key => key.split(' ').every(word => words.includes(word)))
    const places = keys.sort((one, other) => other.length - one.length).map(key => this.#placeKeys.get(key))
    const [there] = places
      .map(place => found.filter(device => isIn(device, place)))
      .filter(each => each.length > 0)
    if (there) return there
    const byPlace = found.filter(device => words.some(word => this.#isOnlyPlace(device, word)))
    const isSpread = !isAll && new Set(byPlace.map(({ area }) => area)).size > 1
    return found.length > 0 && !isSpread ? found : undefined
  }

  #isOnlyPlace(device: Device, word: string): boolean {
    const { name, all } = this.#called.get(device) ?? {}
    return all?.has(word) === true && !name?.has(word) && !this.#kindWords.has(word)
  }
}

/** What a bare room stands for. */
function usual(there: Device[], text: string, { roomKind }: ResolveOptions): Resolved {
  const devices = roomKind === undefined ? there : there.filter(({ kinds }) => kinds.has(roomKind))
  if (devices.length > 0) return { devices }
  return there.length === 1 ? { devices: there } : { problem: 'unknown', text }
}

/** The devices in the result of a listing tool. */
function devicesIn(result: unknown, { listing }: HomeWords): Device[] {
  const listed = listing && valueAt(result, listing.devices)
  if (!listing || !Array.isArray(listed)) return []
  return listed.slice(0, MAX_DEVICES).flatMap((entry): Device[] => {
    const text = (path: string | undefined) => {
      const value = path === undefined ? undefined : valueAt(entry, path)
      return typeof value === 'string' && value.trim() !== '' ? value : undefined
    }
    const name = text(listing.name)
    if (name === undefined) return []
    const isDead = Object.entries(listing.dead ?? {}).some(([path, value]) => valueAt(entry, path) === value)
    const [area, floor, state = '', kind = ''] = [
      listing.area,
      listing.floor,
      listing.state,
      listing.kind,
    ].map(text)
    return [{ name, id: name, area, floor, state, kind, isDead, kinds: new Set<string>() }]
  })
}

function alive(devices: Device[]): Device[] {
  const living = devices.filter(({ isDead }) => !isDead)
  return living.length > 0 ? living : devices
}

function isIn({ area, floor }: Device, place: string | undefined): boolean {
  return place !== undefined && (area === place || floor === place)
}

function isOneOf({ kinds: own }: Device, kinds: readonly string[] | undefined): boolean {
  return kinds === undefined || kinds.some(kind => own.has(kind))
}

function isWord(key: string): boolean {
  return /[\p{L}\d]/u.test(key)
}

function sorted(words: readonly string[]): string {
  return [...new Set(words)].sort().join(' ')
}

/** An item with a word that has a role; `undefined` if it cannot stand there. */
function withClass(item: Item, value: WordClass): Item | undefined {
  const { words, place, isPlace, isOne, isEverything, isOther, isWhole } = item
  const isStart = !isPlace && words.length === 0 && !isOne && !isEverything
  const isLead = isPlace ? place.length === 0 : isStart
  if (value === 'the') return isLead ? item : undefined
  if (value === 'all') return isLead ? { ...item, isAll: true } : undefined
  if (value === 'both') return isStart ? { ...item, isAll: true, isBoth: true, isWhole: true } : undefined
  if (value === 'it' || value === 'them')
    return isStart && !isOther ? { ...item, pronoun: value, isWhole: true } : undefined
  if (value === 'everything')
    return isStart ? { ...item, isAll: true, isEverything: true, isWhole: true } : undefined
  if (value === 'other') return isStart ? { ...item, isOther: true, isWhole: true } : undefined
  if (value === 'one') return isPlace || isEverything ? undefined : { ...item, isOne: true, isWhole: true }
  if (value === 'in') return isWhole ? { ...item, isPlace: true, isWhole: false } : undefined
  if (value === 'here') return { ...item, isHere: true, isWhole: true }
  return value === 'house' ? { ...item, isHouse: true, isWhole: true } : undefined
}
