import { type NumberReader, Phrases } from './numbers.ts'
import { keysOf, type Token } from './text.ts'

/** A device as a listing tool or the configuration describes it. */
export interface DeviceData {
  name: string
  area?: string | undefined
  floor?: string | undefined
  kind: string
  state?: string | undefined
  isDead?: boolean | undefined
}

/** What the configuration adds to the listed home. */
export interface HomeSettings {
  rooms?: Readonly<Record<string, readonly string[]>> | undefined
  floors?: Readonly<Record<string, readonly string[]>> | undefined
  groups?: Readonly<Record<string, readonly string[]>> | undefined
  aliases?: Readonly<Record<string, readonly string[]>> | undefined
}

interface KindWords {
  /** Listed kinds that always belong to it. */
  of?: string[]
  /** Listed kinds that belong to it if their name has one of these words. */
  named?: Record<string, string[]>
  /** Listed kinds that belong to it if their state looks like this. */
  state?: Record<string, string>
  /** How it is called; the words in `broad` mean all of its devices, whatever their names. */
  words?: string[]
  broad?: string[]
  /** How several of them are called aloud. */
  spoken?: string[]
}

type WordClass = 'the' | 'all' | 'both' | 'everything' | 'except' | 'in' | 'and' | NounClass
type NounClass = 'it' | 'them' | 'other' | 'one' | 'here' | 'house'
const CLASSES = 'the all both everything except in and it them other one here house'.split(' ') as WordClass[]

/** How a language speaks of a home; the classes are words with a role in names: articles, quantifiers, pronouns. */
export interface HomeWords extends Partial<Record<WordClass, string[]>> {
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
  /** Where the state of a device is in the result of a reading: the first path that holds one. */
  reading?: string[]
  /** State → what it looks like. */
  states?: Record<string, string>
  /** Names are written in lower case within a sentence. */
  lowercase?: boolean
  same?: Record<string, string>
  kinds?: Record<string, KindWords>
}

export interface Device extends DeviceData {
  /** The name that a call uses. */
  id: string
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
export interface ResolveOptions {
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
}

export type Resolved =
  | { devices: Device[] }
  | { problem: 'which'; devices: Device[]; text: string }
  | { problem: 'unknown'; text: string }
  | { problem: 'here'; text: string }

interface Word {
  words: string[]
  end: number
  isPlural: boolean
}

/** What starts at a token. */
interface Found<Value> {
  end: number
  value: Value
  cost: number
}

const MAX_RUN = 8
const MAX_ITEMS = 12

/** The devices of a home and how they are called. */
export class Home {
  readonly devices: readonly Device[]
  readonly areas: readonly string[]
  readonly words: HomeWords
  readonly #numbers: NumberReader
  readonly #same: ReadonlyMap<string, string>
  readonly #groups = new Map<string, readonly string[]>()
  readonly #areaKeys = new Map<string, string>()
  /** Word → devices that have it in their name or room, or by their kind. */
  readonly #literal = new Map<string, Set<Device>>()
  readonly #byKind = new Map<string, Set<Device>>()
  readonly #broad = new Set<string>()
  readonly #nouns = new Set<string>()
  /** Names as sorted words → devices with exactly that name. */
  readonly #exact = new Map<string, { device: Device; isPlural: boolean }[]>()
  readonly #compounds = new Map<string, string[]>()
  readonly #classes: Phrases<WordClass>

  constructor(
    data: readonly DeviceData[],
    words: HomeWords,
    options: { numbers: NumberReader; settings?: HomeSettings },
  ) {
    const { numbers, settings = {} } = options
    this.words = words
    this.#numbers = numbers
    this.#same = new Map(Object.entries(words.same ?? {}))
    this.#classes = new Phrases(
      CLASSES.flatMap(name => (words[name] ?? []).map(text => [text, name] as const)),
    )
    const { rooms = {}, aliases = {} } = settings
    const roomOf = ({ name, area }: DeviceData) =>
      Object.keys(rooms).find(room => rooms[room]?.includes(name)) ?? area
    this.areas = [...new Set([...data.flatMap(each => roomOf(each) ?? []), ...Object.keys(rooms)])]
    const once = new Set<string>()
    const twice = new Set<string>()
    for (const { name } of data) (once.has(name) ? twice : once).add(name)
    this.devices = data.map(each => {
      const id = twice.has(each.name) && each.area ? `${each.area} ${each.name}` : each.name
      return { ...each, area: roomOf(each) ?? this.#areaIn(each.name), id, kinds: this.#kindsOf(each) }
    })
    for (const area of this.areas)
      for (const key of [area, ...(aliases[area] ?? [])])
        this.#areaKeys.set(sorted(this.#canonical(key)), area)
    for (const device of this.devices) this.#index(device, settings)
    for (const [name, members] of Object.entries(settings.groups ?? {})) {
      this.#groups.set(sorted(this.#canonical(name)), members)
      for (const word of this.#canonical(name)) this.#literal.set(word, this.#literal.get(word) ?? new Set())
    }
  }

  /** Changes whenever what can be said does. */
  get key(): string {
    return this.devices
      .map(({ id, area, isDead, kinds }) => [id, area, isDead, ...kinds].join('\t'))
      .join('\n')
  }

  /** All words that are no misspellings of others. */
  *vocabulary(): Generator<string> {
    yield* this.#literal.keys()
    yield* this.#byKind.keys()
    yield* this.#compounds.keys()
    yield* this.#classes.words()
    yield* this.#same.keys()
  }

  device(id: string): Device | undefined {
    return this.devices.find(each => each.id === id)
  }

  /** Every name phrase that starts at a token. */
  readonly namesAt = (tokens: readonly Token[], pos: number): Found<NamePhrase>[] => {
    const found = new Map<string, Found<NamePhrase>>()
    const grow = (items: Item[], except: Item[] | undefined, at: number) => {
      if (items.length + (except?.length ?? 0) > MAX_ITEMS) return
      const start = { words: [], place: [], text: '' }
      for (const { item: read, end } of this.#itemsFrom(tokens, at, start)) {
        const said = tokens.slice(at, end).map(({ key }) => key)
        const item = { ...read, text: said.join(' ') }
        const next = except ? { items, except: [...except, item] } : { items: [...items, item], except: [] }
        const all = [...next.items, ...next.except]
        const key = JSON.stringify(next)
        const costs = all.map(
          ({ isAll, isOne, place }) => (isAll ? 0.25 : 0.2) + (isOne ? 0.5 : 0) + place.length / 100,
        )
        const cost = costs.reduce((sum, each) => sum + each, 0)
        found.set(`${end} ${key}`, { end, value: { ...next, key }, cost })
        if (tokens[end]?.afterBreak) grow(next.items, except && next.except, end)
        for (const { value, end: after } of this.#classes.at(tokens, end))
          if (value === 'and') grow(next.items, except && next.except, after)
          else if (value === 'except' && !except) grow(next.items, [], after)
      }
    }
    grow([], undefined, pos)
    return [...found.values()]
  }

  /** Every room whose name starts at a token. */
  readonly areasAt = (tokens: readonly Token[], pos: number): Found<string>[] => {
    const found: Found<string>[] = []
    const words: string[] = []
    let word = this.#wordAt(tokens, pos)
    for (; word && words.length < MAX_RUN; word = this.#wordAt(tokens, word.end)) {
      words.push(...word.words)
      const area = this.#areaOf(words)
      if (area !== undefined) found.push({ end: word.end, value: area, cost: 0 })
    }
    return found
  }

  /** The devices that a phrase means. */
  resolve({ items, except }: NamePhrase, options: ResolveOptions = {}): Resolved {
    const scoped = items.map((_, at) => this.#inContext(items, at, options))
    const devices: Device[] = []
    for (const item of scoped) {
      const resolved = this.#resolveItem(item, options)
      if ('problem' in resolved) return resolved
      devices.push(...resolved.devices)
    }
    const left = new Set(devices)
    for (const item of except) {
      const resolved = this.#resolveItem({ ...item, isAll: true }, { ...options, roomKind: undefined })
      if ('problem' in resolved) return resolved
      for (const device of resolved.devices) left.delete(device)
    }
    if (left.size === 0) return { problem: 'unknown', text: items[0]?.text ?? '' }
    return { devices: [...left] }
  }

  /** Devices of a kind, in a room if one is given. */
  ofKind(kinds: readonly string[], area?: string): Device[] {
    const all = this.#alive(this.devices.filter(device => kinds.some(kind => device.kinds.has(kind))))
    const there = area === undefined ? [] : all.filter(device => device.area === area)
    return there.length > 0 ? there : all
  }

  /** The one other device like these: "the other one". */
  otherThan(ids: readonly string[], kinds: readonly string[] | undefined): Device | undefined {
    const known = ids.map(id => this.device(id)).filter(device => device !== undefined)
    const words = new Set(known.flatMap(({ name }) => this.#canonical(name)))
    const shared = this.devices
      .filter(device => !ids.includes(device.id) && isOneOf(device, kinds))
      .map(device => ({ device, score: this.#canonical(device.name).filter(word => words.has(word)).length }))
      .filter(({ score }) => score > 0)
    const best = Math.max(...shared.map(({ score }) => score))
    const [only, ...others] = shared.filter(({ score }) => score === best)
    return others.length === 0 ? only?.device : undefined
  }

  /** How devices of these kinds may be called, for a speech recogniser. */
  *spokenNames(kinds: readonly string[] | undefined): Generator<string[]> {
    const [the = ''] = this.words.the ?? []
    const [within = ''] = this.words.in ?? []
    const [all = ''] = this.words.all ?? []
    const meant = this.devices.filter(device => isOneOf(device, kinds))
    const names = meant.flatMap(({ name, area = '' }) => {
      const words = keysOf(name).filter(isWord)
      const room = keysOf(area)
      return room.every(word => words.includes(word)) ? [words] : [words, [...room, ...words]]
    })
    for (const [kind, { spoken = [] }] of Object.entries(this.words.kinds ?? {})) {
      const rooms = new Set(meant.filter(device => device.kinds.has(kind)).map(({ area }) => area))
      if (rooms.size === 0) continue
      for (const noun of spoken) {
        names.push([noun])
        yield [all, the, noun]
        for (const room of rooms)
          if (room) names.push([...keysOf(room), noun], [noun, within, the, ...keysOf(room)])
      }
    }
    for (const name of names) {
      yield name
      yield [the, ...name]
    }
  }

  /** The same phrase in a room: "the light" … "in the kitchen". */
  within(phrase: NamePhrase, area: string): NamePhrase {
    const place = this.#canonical(area)
    return { ...phrase, items: phrase.items.map(item => ({ ...item, place: [...item.place, ...place] })) }
  }

  isPluralName(name: string): boolean {
    return this.#isPlural(keysOf(name).at(-1) ?? '')
  }

  #areaIn(name: string): string | undefined {
    const words = this.#canonical(name)
    const starts = (area: string) => this.#canonical(area).every((word, at) => words[at] === word)
    return this.areas.filter(starts).sort((one, other) => other.length - one.length)[0]
  }

  #kindsOf(device: DeviceData): ReadonlySet<string> {
    const kinds = new Set([device.kind])
    const words = this.#canonical(device.name)
    for (const [name, { of = [], named = {}, state = {} }] of Object.entries(this.words.kinds ?? {})) {
      const isNamed = named[device.kind]?.some(word => words.includes(this.#canon(word)))
      const looks = state[device.kind]
      const hasState = looks !== undefined && new RegExp(looks, 'i').test(device.state ?? '')
      if (of.includes(device.kind) || isNamed || hasState) kinds.add(name)
    }
    return kinds
  }

  #index(device: Device, { aliases = {}, floors = {} }: HomeSettings): void {
    const name = this.#canonical(device.name)
    const area = device.area ? this.#canonical(device.area) : []
    const otherAreas = device.area ? (aliases[device.area] ?? []) : []
    const floor =
      device.floor ?? Object.entries(floors).find(([, rooms]) => rooms.includes(device.area ?? ''))?.[0]
    const other = (aliases[device.id] ?? aliases[device.name] ?? []).map(alias => this.#canonical(alias))
    const isPlural = this.#isPlural(keysOf(device.name).at(-1) ?? '')
    for (const words of [name, [...area, ...name], ...other]) {
      const key = sorted(words)
      const known = this.#exact.get(key) ?? []
      if (!known.some(each => each.device === device)) known.push({ device, isPlural })
      this.#exact.set(key, known)
      this.#compound(words)
    }
    this.#compound(area)
    const all = [
      ...name,
      ...area,
      ...other.flat(),
      ...otherAreas.flatMap(each => this.#canonical(each)),
      ...this.#canonical(floor ?? ''),
    ]
    for (const word of all) add(this.#literal, word, device)
    const noun = name.findLast(word => !/\d/.test(word))
    if (noun) this.#nouns.add(noun)
    for (const kind of device.kinds) {
      const { words = [], broad = [] } = this.words.kinds?.[kind] ?? {}
      for (const word of broad) this.#broad.add(this.#canon(word))
      for (const word of [...words, ...broad]) {
        add(this.#byKind, this.#canon(word), device)
        this.#nouns.add(this.#canon(word))
      }
    }
  }

  /** "livingroom", "undercabinet": words of a name written as one. */
  #compound(words: readonly string[]): void {
    for (let size = 2; size <= 3; size++)
      for (let at = 0; at + size <= words.length; at++) {
        const part = words.slice(at, at + size)
        this.#compounds.set(part.join(''), part)
      }
  }

  #canonical(text: string): string[] {
    return keysOf(text)
      .filter(isWord)
      .map(key => this.#canon(key))
  }

  #canon(key: string): string {
    const same = this.#same.get(key)
    if (same !== undefined) return this.#singular(same)
    const single = this.#singular(key)
    return this.#numbers.digitOf(key) ?? this.#singular(this.#same.get(single) ?? single)
  }

  #singular(key: string): string {
    for (const [ending, instead] of this.words.plurals ?? [])
      if (key.endsWith(ending) && key.length > ending.length + 1)
        return key.slice(0, -ending.length) + instead
    return key
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
      : {
          ...item,
          words: [...item.words, ...words],
          isPlural: item.isPlural === true || isPlural,
          isWhole: true,
        }
    yield { item: next, end: word.end }
    yield* this.#itemsFrom(tokens, word.end, next)
  }

  /** A word of the home: also two written as one, or one written as two or three. */
  #wordAt(tokens: readonly Token[], pos: number): Word | undefined {
    const token = tokens[pos]
    if (!token) return undefined
    for (const key of [token.key, ...token.corrections]) {
      const words = (this.#same.get(key) ?? key).split(' ').map(word => this.#canon(word))
      if (words.every(word => this.#literal.has(word) || this.#byKind.has(word)))
        return { words, end: pos + 1, isPlural: this.#nouns.has(words.at(-1) ?? '') && this.#isPlural(key) }
      const parts = this.#compounds.get(words[0] ?? '') ?? this.#compounds.get(key)
      if (parts) return { words: parts, end: pos + 1, isPlural: false }
    }
    for (let size = 3; size >= 2; size--) {
      const parts = tokens.slice(pos, pos + size).map(({ key }) => key)
      const word = this.#canon(parts.join(''))
      if (parts.length === size && this.#literal.has(word))
        return { words: [word], end: pos + size, isPlural: false }
    }
    return undefined
  }

  /** Fills in what an item shares with its neighbours: "the kitchen and bedroom lights", "the lights and the tv in the den". */
  #inContext(items: readonly Item[], at: number, options: ResolveOptions): Item {
    const item = items[at] as Item
    if (item.pronoun || item.isEverything || items.length === 1) return item
    const last = items.at(-1) as Item
    const others = [items[at + 1], items[at - 1]].filter(each => each !== undefined)
    const hasNoun = this.#exact.has(sorted(item.words)) || item.words.some(word => this.#byKind.has(word))
    const nounsOf = ({ words }: Item) =>
      words.filter(word => this.#nouns.has(word) && !item.words.includes(word))
    const withNoun = (other: Item): Item[] => {
      const noun = hasNoun ? undefined : nounsOf(other).at(-1)
      return noun === undefined
        ? []
        : [{ ...item, words: [...item.words, noun], isPlural: other.isPlural === true }]
    }
    const withPlace = item.place.length === 0 && last.place.length > 0 ? [{ ...item, place: last.place }] : []
    const tries = [...others.flatMap(withNoun), ...withPlace]
    return tries.find(each => !('problem' in this.#resolveItem(each, options))) ?? item
  }

  #resolveItem(item: Item, options: ResolveOptions): Resolved {
    const { text, isHere } = item
    if (item.pronoun || (item.isBoth && item.words.length === 0)) return this.#pronoun(item, options)
    if (isHere && options.area === undefined) return { problem: 'here', text }
    if (item.isOther && !options.last) return { problem: 'unknown', text }
    const isMeant = (device: Device) =>
      isOneOf(device, options.kinds) &&
      (!options.among || options.among.includes(device.id)) &&
      (!isHere || device.area === options.area) &&
      (!item.isOther || !options.last?.them.includes(device.id))
    const words = [...new Set([...item.words, ...item.place])]
    const group = this.#groups.get(sorted(words))
    if (group)
      return { devices: this.devices.filter(({ id, name }) => group.includes(id) || group.includes(name)) }
    if (item.isOther && words.length === 0) {
      const other = options.last && this.otherThan(options.last.them, options.kinds)
      return other ? { devices: [other] } : { problem: 'unknown', text }
    }
    if (words.length === 0) {
      const all = item.isEverything ? this.#alive(this.devices.filter(isMeant)) : []
      return all.length > 0 ? { devices: all } : { problem: 'unknown', text }
    }
    const exact = (this.#exact.get(sorted(words)) ?? []).filter(each => isMeant(each.device))
    const named = exact.filter(({ isPlural }) => isPlural || !item.isPlural).map(({ device }) => device)
    if (named.length === 1) return { devices: named }
    const area = item.isOne ? undefined : this.#areaOf(words)
    if (area !== undefined && !item.isEverything && !options.among) return this.#room(area, text, options)
    const found = this.#alive(this.#subset(words, isMeant, item.isEverything))
    if (found.length === 0) return { problem: 'unknown', text }
    const isScoped = item.words.some(word => this.#broad.has(word)) && (words.length > 1 || isHere)
    const areMany = item.isAll || item.isPlural || item.isEverything || isScoped
    if (found.length > 1 && !areMany) return { problem: 'which', devices: found, text }
    if (item.isBoth && found.length !== 2) return { problem: 'which', devices: found, text }
    return { devices: found }
  }

  #pronoun({ pronoun = 'them', text, isBoth }: Item, { last, kinds, among }: ResolveOptions): Resolved {
    const ids = isBoth && among ? among : (last?.[pronoun] ?? [])
    const devices = ids.map(id => this.device(id)).filter(device => device !== undefined)
    const fitting = devices.filter(device => isOneOf(device, kinds))
    if (fitting.length === 0 || fitting.length < devices.length) return { problem: 'unknown', text }
    return isBoth && fitting.length !== 2 ? { problem: 'unknown', text } : { devices: fitting }
  }

  #areaOf(words: readonly string[]): string | undefined {
    const exact = this.#areaKeys.get(sorted(words))
    if (exact !== undefined) return exact
    const parts = [...this.#areaKeys].filter(([key]) => words.every(word => key.split(' ').includes(word)))
    const areas = new Set(parts.map(([, area]) => area))
    const isAmbiguous = areas.size !== 1 || words.some(word => this.#byKind.has(word))
    return isAmbiguous ? undefined : [...areas][0]
  }

  #room(area: string, text: string, { kinds, roomKind }: ResolveOptions): Resolved {
    const there = this.#alive(this.devices.filter(device => device.area === area && isOneOf(device, kinds)))
    const usual = roomKind === undefined ? there : there.filter(device => device.kinds.has(roomKind))
    if (usual.length > 0) return { devices: usual }
    return there.length === 1 ? { devices: there } : { problem: 'unknown', text }
  }

  /** Devices that have all the words: by name and room if possible, otherwise also by kind. */
  #subset(words: readonly string[], isMeant: (device: Device) => boolean, isEverything = false): Device[] {
    const within = (isWide: boolean) => {
      const sets = words.map(word => {
        const literal = this.#literal.get(word) ?? new Set()
        return isWide || this.#broad.has(word)
          ? new Set([...literal, ...(this.#byKind.get(word) ?? [])])
          : literal
      })
      const [smallest = new Set<Device>(), ...others] = sets.sort((one, other) => one.size - other.size)
      const all = [...smallest].filter(device => isMeant(device) && others.every(set => set.has(device)))
      return this.devices.length > 100 ? all : this.devices.filter(device => all.includes(device))
    }
    const literal = within(false)
    return literal.length > 0 || isEverything ? literal : within(true)
  }

  #alive(devices: Device[]): Device[] {
    const alive = devices.filter(({ isDead }) => !isDead)
    return alive.length > 0 ? alive : devices
  }
}

function isOneOf(device: Device, kinds: readonly string[] | undefined): boolean {
  return kinds === undefined || kinds.some(kind => device.kinds.has(kind))
}

function isWord(key: string): boolean {
  return /[\p{L}\d]/u.test(key)
}

function sorted(words: readonly string[]): string {
  return [...new Set(words)].sort().join(' ')
}

function add<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const known = map.get(key)
  if (known) known.add(value)
  else map.set(key, new Set([value]))
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
  if (!isWhole && !isPlace) return undefined
  if (value === 'here') return { ...item, isHere: true, isWhole: true }
  return value === 'house' ? { ...item, isPlural: true, isWhole: true } : undefined
}
