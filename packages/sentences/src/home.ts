import { type SlotList, valuesList } from './lists.ts'
import { type NumberReader, Phrases } from './numbers.ts'
import { valueAt } from './response.ts'
import { anyOf, fill, type Node } from './template.ts'
import { keysOf, type Token } from './text.ts'

type Names = Readonly<Record<string, readonly string[]>>

/** What the configuration adds to the listed home: room → devices, floor → rooms, group → devices, name → other names. */
export type HomeSettings = Partial<Record<'rooms' | 'floors' | 'groups' | 'aliases', Names | undefined>>

/** A kind of devices: which of the listed ones belong to it, and how it is called. Described in sentences/en.yaml. */
interface KindWords extends Partial<Record<'of' | 'not' | 'words' | 'broad' | 'spoken', string[]>> {
  named?: Record<string, string[]>
  state?: Record<string, string>
  ranges?: Record<string, { from: number; to: number }>
}

/** Words with a role in names: articles, quantifiers, pronouns. */
const ROLES = 'the all both everything except in and it them other one here house'.split(' ')

/** How a language speaks of a home, as the files say it: also `the`, `all`, … with the words of a role. */
export interface HomeWords {
  listing?: Record<'tool' | 'devices' | 'name' | 'kind', string> &
    Partial<Record<'area' | 'floor' | 'state', string>> &
    Partial<Record<'args' | 'dead', Record<string, unknown>>> & { lists?: Record<string, string> }
  argument?: string
  plurals?: [string, string][]
  plural_words?: string[]
  reading?: { list: string; name?: string; text: string }
  states?: Record<string, string>
  lowercase?: boolean
  same?: Record<string, string>
  kinds?: Record<string, KindWords>
  spoken?: { first?: string; item?: string; items?: string }
  [role: string]: unknown
}

export interface Device {
  name: string
  id: string // The name that a call uses
  area?: string | undefined
  floor?: string | undefined
  kind: string
  state: string
  isDead: boolean
  kinds: ReadonlySet<string>
}

/** A part of what a name slot took: "all the lights in the kitchen". */
interface Item {
  words: readonly string[]
  place: readonly string[] // The words after "in"
  /** The roles of the other words; `plural` if a noun is, `except` after that, `in` while words belong to the place. */
  roles: ReadonlySet<string>
  text: string
}

/** What a name slot took; which devices it means depends on what is to be done with them. */
export type NamePhrase = { key: string; items: readonly Item[] }

/** What is known of the conversation and the purpose when a phrase is resolved. */
interface ResolveOptions {
  /** Kinds that can be meant; what a bare room stands for: "turn off the kitchen" are its lights. */
  kinds?: readonly string[] | undefined
  roomKind?: string | undefined
  among?: readonly string[] // Only these: the ones a question offered
  last?: { it: readonly string[]; them: readonly string[] } | undefined // "it" and "them"
  area?: string | undefined // "here"; with `prefersArea`, "the lights" are those of the area if it has some
  prefersArea?: boolean
}

/** What a phrase means; with a problem, what it might mean. */
export type Resolved = { problem?: 'which' | 'unknown' | 'here'; devices: Device[]; text: string }

/** How a word calls a device: it is in its name, its place, the broad words of its kinds, or the other ones. */
const [BY_NAME, BROADLY, BY_KIND] = [0, 2, 3] as const
const HOW = [BROADLY, BY_KIND]
type Word = { words: string[]; end: number; isPlural: boolean }
type Found<Value> = { end: number; value: Value; cost: number }

const NOTHING: Item = { words: [], place: [], roles: new Set(), text: '' }
const MAX_RUN = 8
const MAX_ITEMS = 12

/** The devices of a home and how they are called. */
export class Home {
  readonly devices: readonly Device[]
  readonly key: string // Changes whenever what can be said does
  readonly places: readonly string[]
  readonly words: HomeWords
  readonly #numbers: NumberReader
  readonly byId: ReadonlyMap<string, Device>
  readonly #groups: ReadonlyMap<string, readonly string[]>
  readonly #placeKeys = new Map<string, string>() // The words of a place, sorted → its name
  readonly #byWord = new Map<string, Map<Device, number>>()
  readonly #kindWords = new Set<string>()
  readonly #broad = new Set<string>()
  readonly #nouns = new Set<string>()
  readonly #exact = new Map<string, Set<Device>>() // Names as sorted words → devices with exactly that name
  readonly #compounds = new Map<string, string[]>()
  readonly #roles: Phrases<string>
  readonly #aliases: Names

  /** `listed` is the result of the listing tool. */
  constructor(listed: unknown, words: HomeWords, numbers: NumberReader, settings: HomeSettings = {}) {
    this.words = words
    this.#numbers = numbers
    const said = (role: string) => ((words[role] ?? []) as string[]).map(text => [text, role] as const)
    this.#roles = new Phrases(ROLES.flatMap(said))
    const { rooms = {}, aliases = {}, floors = {}, groups = {} } = settings
    this.#aliases = aliases
    const data = devicesIn(listed, words)
    const holding = (all: Names, member: string | undefined) =>
      Object.keys(all).find(name => member !== undefined && all[name]?.includes(member))
    const areas = [...new Set([...data.flatMap(({ area }) => area ?? []), ...Object.keys(rooms)])]
    const count = new Map<string, number>()
    for (const { name } of data) count.set(name, (count.get(name) ?? 0) + 1)
    this.devices = data.map(each => {
      const isTwice = (count.get(each.name) ?? 0) > 1
      const area = holding(rooms, each.name) ?? each.area ?? this.#areaIn(each.name, areas)
      const id = isTwice && each.area ? `${each.area} ${each.name}` : each.name
      return { ...each, id, area, floor: each.floor ?? holding(floors, area), kinds: this.#kindsOf(each) }
    })
    this.key = JSON.stringify(this.devices.map(({ state: _, kinds, ...device }) => [device, ...kinds]))
    this.byId = new Map(this.devices.map(device => [device.id, device]))
    this.places = [...new Set([...areas, ...this.devices.flatMap(({ floor }) => floor ?? [])])]
    for (const place of this.places)
      for (const key of [place, ...(aliases[place] ?? [])]) {
        this.#placeKeys.set(sorted(this.#canonical(key)), place)
        this.#compound(key)
      }
    for (const device of this.devices) this.#index(device, aliases)
    this.#groups = new Map(Object.entries(groups).map(([name, ids]) => [sorted(this.#canonical(name)), ids]))
    for (const word of [...this.#groups.keys()].flatMap(key => key.split(' ')))
      this.#byWord.set(word, this.#byWord.get(word) ?? new Map())
  }

  vocabulary(): string[] {
    const { same = {} } = this.words
    return [...this.#byWord.keys(), ...this.#compounds.keys(), ...this.#roles.words(), ...Object.keys(same)]
  }

  readonly #namesAt = (tokens: readonly Token[], pos: number): Found<NamePhrase>[] => {
    const found: Found<NamePhrase>[] = []
    const grow = (items: readonly Item[], at: number, before: number, start = NOTHING) => {
      for (const { item: read, end } of items.length < MAX_ITEMS ? this.#itemsFrom(tokens, at, start) : []) {
        const words = tokens.slice(at, end).map(({ key }) => key)
        const next = [...items, { ...read, text: words.join(' ') }]
        const vague = (read.roles.has('all') ? 0.25 : 0.2) + (read.roles.has('one') ? 0.5 : 0)
        const cost = before + vague + read.place.length / 100
        found.push({ end, value: { items: next, key: `${pos} ${found.length}` }, cost })
        if (tokens[end]?.afterBreak) grow(next, end, cost, start)
        for (const { value, end: after } of this.#roles.at(tokens, end))
          if (value === 'and') grow(next, after, cost, start)
          else if (value === 'except' && start === NOTHING) grow(next, after, cost, excepted(NOTHING))
      }
    }
    grow([], pos, 0)
    return found
  }

  readonly #placesAt = (tokens: readonly Token[], pos: number): Found<string>[] => {
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

  resolve({ items }: NamePhrase, options: ResolveOptions = {}): Resolved {
    const wanted = items.filter(({ roles }) => !roles.has('except'))
    const unwanted = items.filter(({ roles }) => roles.has('except'))
    const meant = wanted.map((_, at) => this.#resolveItem(this.#inContext(wanted, at, options), options))
    const not = unwanted.map(item => this.#resolveItem(item, { ...options, roomKind: undefined }))
    const isLeft = (device: Device) => !not.some(({ devices }) => devices.includes(device))
    const left = new Set(meant.flatMap(({ devices }) => devices).filter(isLeft))
    return [...meant, ...not].find(({ problem }) => problem) ?? found([...left], items[0]?.text ?? '')
  }

  ofKind(kinds: readonly string[] | undefined, place?: string): Device[] {
    const isThere = (device: Device) => place === undefined || isIn(device, place)
    return alive(this.devices.filter(device => isOneOf(device, kinds) && isThere(device)))
  }

  /** What a name or a place can be; names of these kinds are expected aloud. */
  list(name: string, kinds: readonly string[] | undefined): SlotList | undefined {
    if (name === 'area') return { ...valuesList(this.places), at: this.#placesAt }
    if (name !== 'name') return undefined
    const spoken = () => this.#spokenNames(kinds, this.words.spoken?.item)
    const spokenFirst = () => this.#spokenNames(kinds, this.words.spoken?.first ?? this.words.spoken?.item)
    return { at: this.#namesAt, words: () => this.vocabulary(), spoken, spokenFirst }
  }

  /** In the language's template: `full` names and parts that only one device has, any `part`, the `noun` of a kind, and `room`. */
  #spokenNames(kinds: readonly string[] | undefined, item = '<full>'): Node {
    const [nouns, full, rooms] = [[], [], []] as [string[][], string[][], string[][]]
    const parts = new Map<string, Set<Device>>()
    for (const device of this.devices.filter(each => isOneOf(each, kinds))) {
      const own = [...device.kinds].flatMap(kind => this.words.kinds?.[kind]?.spoken ?? []).map(keysOf)
      nouns.push(...own)
      for (const name of [device.name, ...(this.#aliases[device.id] ?? this.#aliases[device.name] ?? [])]) {
        const words = keysOf(name).filter(isWord)
        const head = words.findLastIndex(word => !this.#kindWords.has(this.#canon(word))) + 1
        const room = device.area === undefined ? words.slice(0, head % words.length) : keysOf(device.area)
        const isNamed = room.every(word => words.includes(word))
        rooms.push(room)
        full.push(room, words, ...[...own, ...(isNamed ? [] : [words])].map(each => [...room, ...each]))
        for (let at = head; at <= words.length; at++)
          for (const range of [[0, at], [head, at], [at]]) {
            const part = words.slice(...range).join(' ')
            parts.set(part, (parts.get(part) ?? new Set()).add(device))
          }
      }
    }
    for (const [part, { size }] of parts) if (size === 1) full.push(keysOf(part))
    const nodes = { full: anyOf(full), noun: anyOf(nouns), room: anyOf(rooms) }
    const part = anyOf([...parts.keys()].map(keysOf))
    return fill(this.words.spoken?.items ?? '<item>', { item: fill(item, { ...nodes, part }) })
  }

  /** The same phrase in a place ("in the kitchen", "here", "in the house"), without some devices. */
  within(phrase: NamePhrase, area: unknown, scope: unknown, except?: NamePhrase): NamePhrase {
    const place = typeof area === 'string' ? this.#canonical(area) : []
    const scoped = (item: Item) => (typeof scope === 'string' ? withRoles(item, scope) : item)
    const items = phrase.items.map(item => ({ ...scoped(item), place: [...item.place, ...place] }))
    return { ...phrase, items: [...items, ...(except?.items.map(excepted) ?? [])] }
  }

  /** What a slot can be for a device, if its kinds say so: degrees Fahrenheit for some thermostats. */
  rangeOf(device: Device | undefined, slot: string): { from: number; to: number } | undefined {
    const ranges = [...(device?.kinds ?? [])].map(kind => this.words.kinds?.[kind]?.ranges?.[slot])
    return ranges.find(range => range !== undefined)
  }

  isPlural(name: string): boolean {
    const key = keysOf(name).at(-1) ?? ''
    return this.#singular(key) !== key || this.words.plural_words?.includes(key) === true
  }

  #areaIn(name: string, areas: readonly string[]): string | undefined {
    const words = this.#canonical(name)
    const starts = (area: string) => this.#canonical(area).every((word, at) => words[at] === word)
    return areas.filter(starts).sort((one, other) => other.length - one.length)[0]
  }

  #kindsOf({ kind, name, state }: Device): ReadonlySet<string> {
    const words = this.#canonical(name)
    const has = (wanted: readonly string[] = []) => wanted.some(word => words.includes(this.#canon(word)))
    const isOf = ({ of = [], named, state: states, not }: KindWords) => {
      const looks = states?.[kind]
      const hasState = looks !== undefined && new RegExp(looks, 'i').test(state)
      return !has(not) && (of.includes(kind) || has(named?.[kind]) || hasState)
    }
    const all = Object.entries(this.words.kinds ?? {}).filter(([, each]) => isOf(each))
    return new Set([kind, ...all.map(([each]) => each)])
  }

  #index(device: Device, aliases: Names): void {
    const { name, id, area = '', floor = '' } = device
    const names = [name, ...(aliases[id] ?? aliases[name] ?? [])]
    const places = [area, ...(aliases[area] ?? []), floor, ...(aliases[floor] ?? [])]
    const kinds = [...device.kinds].flatMap(kind => this.words.kinds?.[kind] ?? [])
    const broad = kinds.flatMap(kind => kind.broad ?? [])
    const narrow = kinds.flatMap(kind => kind.words ?? [])
    for (const key of [...names, `${area} ${name}`].map(text => sorted(this.#canonical(text))))
      this.#exact.set(key, (this.#exact.get(key) ?? new Set()).add(device))
    for (const text of names) this.#compound(text)
    for (const word of broad) this.#broad.add(this.#canon(word))
    for (const word of [...broad, ...narrow])
      for (const all of [this.#kindWords, this.#nouns]) all.add(this.#canon(word))
    this.#nouns.add(this.#canonical(name).findLast(word => !/\d/.test(word)) ?? '')
    for (const [how, texts] of [names, places, broad, narrow].entries())
      for (const word of texts.flatMap(text => this.#canonical(text))) {
        const known = this.#byWord.get(word) ?? new Map<Device, number>()
        this.#byWord.set(word, known.has(device) ? known : known.set(device, how))
      }
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
    return keys.flatMap(key => (this.words.same?.[key] ?? key).split(' ')).map(word => this.#canon(word))
  }

  #canon(key: string): string {
    const { same = {} } = this.words
    if (same[key] !== undefined) return this.#singular(same[key])
    const single = this.#singular(key.replace(/^0+(?=\d)/, ''))
    return this.#numbers.digitOf(key) ?? this.#singular(same[single] ?? single)
  }

  #singular(key: string): string {
    const isEnding = ([ending]: [string, string]) => key.endsWith(ending) && key.length > ending.length + 1
    const [ending, instead] = this.words.plurals?.find(isEnding) ?? ['', '']
    return key.slice(0, key.length - ending.length) + instead
  }

  /** Every way to read an item on: articles and quantifiers, words of names, rooms and kinds, then a place. */
  *#itemsFrom(tokens: readonly Token[], at: number, item: Item): Generator<{ item: Item; end: number }> {
    const { words, place, roles } = item
    for (const { value, end } of this.#roles.at(tokens, at)) {
      if (!canTake(item, value)) continue
      const next = value === 'the' ? item : withRoles(item, value)
      if (WHOLE.has(value)) yield { item: next, end }
      if (!PRONOUNS.has(value)) yield* this.#itemsFrom(tokens, end, next)
    }
    const word = this.#wordAt(tokens, at)
    const isPlace = roles.has('in') || roles.has('everything')
    if (!word || words.length + place.length >= MAX_RUN || roles.has('here')) return
    const named = word.isPlural && !isPlace ? withRoles(item, 'plural') : item
    const more = isPlace ? { place: [...place, ...word.words] } : { words: [...words, ...word.words] }
    const next = { ...named, ...more }
    yield { item: next, end: word.end }
    yield* this.#itemsFrom(tokens, word.end, next)
  }

  /** A word of the home: also two written as one, one as two or three, or a misspelling of any of several. */
  #wordAt(tokens: readonly Token[], pos: number): Word | undefined {
    const token = tokens[pos]
    if (!token) return undefined
    const number = this.#numbers.at(tokens, pos).findLast(({ value }) => this.#byWord.has(String(value)))
    if (number) return { words: [String(number.value)], end: number.end, isPlural: false }
    const near = this.#byWord.has(this.#canon(token.key))
      ? []
      : token.corrections.map(key => this.#canon(key))
    const likely = [...new Set(near.filter(word => this.#byWord.has(word)))]
    if (likely.length > 1) {
      const called = likely.flatMap(word => [...(this.#byWord.get(word) ?? [])])
      this.#byWord.set(likely.join('|'), new Map(called))
      return { words: [likely.join('|')], end: pos + 1, isPlural: false }
    }
    for (const key of [token.key, ...token.corrections]) {
      const words = (this.words.same?.[key] ?? key).split(' ').map(word => this.#canon(word))
      const isPlural = this.isPlural(key)
      if (words.every(word => this.#byWord.has(word)))
        return { words, end: pos + 1, isPlural: isPlural && this.#nouns.has(words.at(-1) ?? '') }
      const parts = this.#compounds.get(words[0] ?? '') ?? this.#compounds.get(key)
      if (parts) return { words: parts, end: pos + 1, isPlural }
    }
    for (const end of [pos + 3, pos + 2]) {
      const parts = tokens.slice(pos, end).map(({ key }) => key)
      const word = this.#canon(parts.join(''))
      if (end <= tokens.length && this.#byWord.has(word)) return { words: [word], end, isPlural: false }
    }
    return undefined
  }

  /** Fills in what an item shares with its neighbours: "the kitchen and bedroom lights", "the lights and the tv in the den". */
  #inContext(items: readonly Item[], at: number, options: ResolveOptions): Item {
    const item = items[at] as Item
    if (items.length === 1 || ['it', 'them', 'everything'].some(role => item.roles.has(role))) return item
    const { place = [] } = items.at(-1) ?? {}
    const hasNoun = this.#exact.has(sorted(item.words)) || item.words.some(word => this.#kindWords.has(word))
    const withNoun = [items[at + 1], items[at - 1]].flatMap(other => {
      const noun = other?.words.findLast(word => this.#nouns.has(word) && !item.words.includes(word))
      if (hasNoun || noun === undefined) return []
      const named = { ...item, words: [...item.words, noun] }
      return [other?.roles.has('plural') ? withRoles(named, 'plural') : named]
    })
    const withPlace = item.place.length === 0 && place.length > 0 ? [{ ...item, place }] : []
    const isFound = (each: Item) => !this.#resolveItem(each, options).problem
    return [...withNoun, ...withPlace].find(isFound) ?? item
  }

  #resolveItem(item: Item, options: ResolveOptions): Resolved {
    const { text, roles } = item
    const { area, last, among, kinds, roomKind } = options
    const has = (...wanted: string[]) => wanted.some(role => roles.has(role))
    if (has('it', 'them') || (has('both') && item.words.length === 0)) return this.#pronoun(item, options)
    if (has('here') && area === undefined) return { problem: 'here', devices: [], text }
    const isMeant = (device: Device) =>
      isOneOf(device, kinds) &&
      (!among || among.includes(device.id)) &&
      (!has('here') || isIn(device, area)) &&
      (!has('other') || !last?.them.includes(device.id))
    const words = [...new Set([...item.words, ...item.place])]
    const group = this.#groups.get(sorted(words))
    const isGrouped = ({ id, name }: Device) => group?.includes(id) || group?.includes(name)
    if (group) return found(this.devices.filter(isGrouped), text)
    if (has('other') && (!last || words.length === 0)) return this.#other(text, options)
    if (words.length === 0) {
      const all = alive(this.devices.filter(isMeant))
      const isRoom = roomKind !== undefined && has('here', 'house')
      return isRoom ? usual(all, text, roomKind) : found(has('everything') ? all : [], text)
    }
    const exact = [...(this.#exact.get(sorted(words)) ?? [])].filter(isMeant)
    const named = exact.filter(({ name }) => !has('plural') || this.isPlural(name))
    if (named.length === 1 && !has('house')) return found(named, text)
    const place = has('one', 'everything') || among ? undefined : this.#placeOf(words)
    const there = place === undefined ? [] : this.devices.filter(device => isIn(device, place))
    if (place !== undefined) return usual(alive(there.filter(each => isOneOf(each, kinds))), text, roomKind)
    const floor = this.#placeKeys.get(sorted(item.place))
    const isKind = item.words.every(word => this.#kindWords.has(word))
    const onFloor = isKind && this.devices.some(device => floor !== undefined && device.floor === floor)
    const called = this.#calledAll(words, isMeant, onFloor ? [BY_KIND] : has('everything') ? [BROADLY] : HOW)
    const all = this.#within(alive(called), words, has('all'))
    const near = options.prefersArea && !has('all', 'house') ? all.filter(device => isIn(device, area)) : []
    const devices = near.length > 0 ? near : all
    const isVague = words.some(word => word.includes('|'))
    const isScoped = words.length > 1 || has('here') || near.length > 0
    const isBroad = isScoped && item.words.some(word => this.#broad.has(word))
    const areMany = (isBroad && !isVague) || onFloor || has('all', 'plural', 'everything', 'house')
    const isUnclear = has('both') ? devices.length > 2 : devices.length > 1 && !areMany
    return isUnclear ? { problem: 'which', devices, text } : found(devices, text)
  }

  #pronoun({ roles, text }: Item, { last, kinds, among }: ResolveOptions): Resolved {
    const isBoth = roles.has('both')
    const ids = (isBoth && among) || (roles.has('it') ? last?.it : last?.them) || []
    const devices = ids.flatMap(id => this.byId.get(id) ?? [])
    const areFitting = devices.length > 0 && devices.every(device => isOneOf(device, kinds))
    return found(areFitting && (!isBoth || devices.length === 2) ? devices : [], text)
  }

  /** The one other device like those spoken of: "the other one". */
  #other(text: string, { last, kinds }: ResolveOptions): Resolved {
    const ids = last?.them ?? []
    const named = ids.flatMap(id => this.#canonical(this.byId.get(id)?.name ?? ''))
    const words = new Set(named.filter(word => !/\d/.test(word)))
    const score = ({ name }: Device) => this.#canonical(name).filter(word => words.has(word)).length
    const others = this.devices.filter(device => !ids.includes(device.id) && isOneOf(device, kinds))
    const best = Math.max(1, ...others.map(score))
    const alike = others.filter(device => score(device) === best)
    return found(alike.length === 1 ? alike : [], text)
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
  #calledAll(words: readonly string[], isMeant: (device: Device) => boolean, how: number[]): Device[] {
    const maps = words.map(word => this.#byWord.get(word) ?? new Map<Device, number>())
    const [fewest = new Map<Device, number>()] = maps.sort((one, other) => one.size - other.size)
    const meant = [...fewest.keys()].filter(isMeant)
    const called = (most: number) =>
      meant.filter(device => maps.every(map => (map.get(device) ?? Infinity) <= most))
    return how.map(called).find(devices => devices.length > 0) ?? []
  }

  /** Those in the place that the words name in full. Parts of the names of several places name none. */
  #within(found: Device[], words: readonly string[], isAll: boolean): Device[] {
    const keys = [...this.#placeKeys.keys()].filter(key => key.split(' ').every(word => words.includes(word)))
    const places = keys.sort((one, other) => other.length - one.length).map(key => this.#placeKeys.get(key))
    const inPlaces = places.map(place => found.filter(device => isIn(device, place)))
    const there = inPlaces.find(devices => devices.length > 0)
    const isOfPlace = (device: Device) =>
      words.some(word => this.#byWord.get(word)?.get(device) !== BY_NAME && !this.#kindWords.has(word))
    const isSpread = !isAll && new Set(found.filter(isOfPlace).map(({ area }) => area)).size > 1
    return there ?? (isSpread ? [] : found)
  }
}

const PRONOUNS = new Set(['it', 'them'])
const WHOLE = new Set(['both', 'everything', 'it', 'them', 'other', 'one', 'here', 'house'])

/** Whether a word with a role can stand after what was read. */
function canTake({ words, place, roles }: Item, role: string): boolean {
  const isPlace = roles.has('in')
  const isStart = !isPlace && words.length === 0 && !roles.has('one') && !roles.has('everything')
  if (role === 'the' || role === 'all') return isPlace ? place.length === 0 : isStart
  if (role === 'one') return !isPlace && !roles.has('everything')
  if (role === 'in') return words.length > 0 || [...WHOLE].some(each => roles.has(each))
  if (PRONOUNS.has(role)) return isStart && !roles.has('other')
  return role === 'here' || role === 'house' || (isStart && role !== 'and' && role !== 'except')
}

function withRoles(item: Item, ...roles: string[]): Item {
  const implied = roles.includes('both') || roles.includes('everything') ? ['all'] : []
  return { ...item, roles: new Set([...item.roles, ...roles, ...implied]) }
}

function excepted(item: Item): Item {
  return withRoles(item, 'except', 'all')
}

function usual(there: Device[], text: string, roomKind: string | undefined): Resolved {
  const devices = roomKind === undefined ? there : there.filter(({ kinds }) => kinds.has(roomKind))
  return found(devices.length > 0 || there.length > 1 ? devices : there, text)
}

function found(devices: Device[], text: string): Resolved {
  return { devices, text, ...(devices.length === 0 && { problem: 'unknown' }) }
}

function devicesIn(result: unknown, { listing }: HomeWords): Device[] {
  const listed = listing && valueAt(result, listing.devices)
  if (!listing || !Array.isArray(listed)) return []
  return listed.flatMap((entry): Device[] => {
    const text = (path = '') => {
      const value = valueAt(entry, path)
      return typeof value === 'string' && value.trim() !== '' ? value : undefined
    }
    const name = text(listing.name)
    if (name === undefined) return []
    const isDead = Object.entries(listing.dead ?? {}).some(([path, value]) => valueAt(entry, path) === value)
    const [area, floor] = [text(listing.area), text(listing.floor)]
    const [state = '', kind = ''] = [text(listing.state), text(listing.kind)]
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
