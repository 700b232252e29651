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

/** How a language speaks of a home. */
export interface HomeWords {
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
  the?: string[]
  all?: string[]
  both?: string[]
  everything?: string[]
  except?: string[]
  in?: string[]
  and?: string[]
  it?: string[]
  them?: string[]
  other?: string[]
  one?: string[]
  here?: string[]
  house?: string[]
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
  isPlural: boolean
  isAll: boolean
  isBoth: boolean
  isEverything: boolean
  isHere: boolean
  isOne: boolean
  isOther: boolean
  pronoun?: 'it' | 'them'
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
  | { problem: 'unknown' | 'here'; text: string }

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
  readonly #classes: Phrases<keyof HomeWords>

  constructor(
    data: readonly DeviceData[],
    words: HomeWords,
    options: { numbers: NumberReader; settings?: HomeSettings },
  ) {
    const { numbers, settings = {} } = options
    this.words = words
    this.#numbers = numbers
    this.#same = new Map(Object.entries(words.same ?? {}))
    const classes = [
      'the',
      'all',
      'both',
      'everything',
      'except',
      'in',
      'and',
      'it',
      'them',
      'other',
      'one',
      'here',
      'house',
    ] as const
    this.#classes = new Phrases(
      classes.flatMap(name => (words[name] ?? []).map(text => [text, name] as const)),
    )
    const inRoom = roomsOf(settings)
    const areas = new Set(data.flatMap(({ name, area }) => inRoom.get(name) ?? area ?? []))
    for (const room of Object.keys(settings.rooms ?? {})) areas.add(room)
    this.areas = [...areas]
    const names = count(data.map(({ name }) => name))
    this.devices = data.map(each => {
      const area = inRoom.get(each.name) ?? each.area ?? this.#areaIn(each.name)
      const id = (names.get(each.name) ?? 0) > 1 && each.area ? `${each.area} ${each.name}` : each.name
      const device = { ...each, area, id, kinds: new Set<string>() }
      return { ...device, kinds: this.#kindsOf(device) }
    })
    for (const [area, keys] of this.areas.map(
      area => [area, [area, ...(settings.aliases?.[area] ?? [])]] as const,
    ))
      for (const key of keys) this.#areaKeys.set(sorted(this.#canonical(key)), area)
    for (const device of this.devices) this.#index(device, settings)
    for (const [name, members] of Object.entries(settings.groups ?? {})) {
      this.#groups.set(sorted(this.#canonical(name)), members)
      for (const word of this.#canonical(name)) this.#literal.set(word, this.#literal.get(word) ?? new Set())
    }
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
  readonly namesAt = (
    tokens: readonly Token[],
    pos: number,
  ): { end: number; value: NamePhrase; cost: number }[] => {
    const found = new Map<string, { end: number; value: NamePhrase; cost: number }>()
    const grow = (items: Item[], except: Item[] | undefined, at: number) => {
      if (items.length + (except?.length ?? 0) > MAX_ITEMS) return
      for (const { item, end } of this.#itemsAt(tokens, at)) {
        const next = except ? { items, except: [...except, item] } : { items: [...items, item], except: [] }
        const key = [next.items, next.except].map(list => list.map(keyOfItem).join(' & ')).join(' - ')
        const all = [...next.items, ...next.except]
        const cost = all.reduce(
          (sum, { isAll, isOne, place }) =>
            sum + 0.2 + (isAll ? 0.05 : 0) + (isOne ? 0.5 : 0) + 0.01 * place.length,
          -0.2,
        )
        found.set(`${end} ${key}`, { end, value: { ...next, key }, cost })
        for (const more of this.#joints(tokens, end))
          if (more.kind === 'and') grow(next.items, except && next.except, more.end)
          else if (!except) grow(next.items, [], more.end)
      }
    }
    grow([], undefined, pos)
    return [...found.values()]
  }

  /** Every room whose name starts at a token. */
  readonly areasAt = (
    tokens: readonly Token[],
    pos: number,
  ): { end: number; value: string; cost: number }[] => {
    const found: { end: number; value: string; cost: number }[] = []
    const words: string[] = []
    for (
      let word = this.#wordAt(tokens, pos);
      word && words.length < MAX_RUN;
      word = this.#wordAt(tokens, word.end)
    ) {
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

  #kindsOf(device: Device): ReadonlySet<string> {
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

  /** "and", a comma, or "except" after an item. */
  #joints(tokens: readonly Token[], pos: number): { kind: 'and' | 'except'; end: number }[] {
    const next = tokens[pos]
    if (!next) return []
    const found: { kind: 'and' | 'except'; end: number }[] = next.afterBreak
      ? [{ kind: 'and', end: pos }]
      : []
    for (const { value, end } of this.#classes.at(tokens, pos))
      if (value === 'and' || value === 'except') found.push({ kind: value, end })
    return found
  }

  #itemsAt(tokens: readonly Token[], start: number): { item: Item; end: number }[] {
    const found: { item: Item; end: number }[] = []
    const base: Item = {
      words: [], place: [], isPlural: false, isAll: false, isBoth: false,
      isEverything: false, isHere: false, isOne: false, isOther: false, text: '',
    } // biome-ignore format: one line per kind of word would be longer
    const leads = this.#leads(tokens, start, base)
    for (const { at, item } of leads) {
      for (const { value, end } of this.#classes.at(tokens, at)) {
        if (value === 'it' || value === 'them') found.push({ item: { ...item, pronoun: value }, end })
        if (value === 'both') found.push({ item: { ...item, pronoun: 'them', isBoth: true }, end })
        if (value === 'everything')
          found.push(...this.#places(tokens, end, { ...item, isAll: true, isEverything: true }))
        if (value === 'one' || value === 'other')
          found.push(...this.#places(tokens, end, { ...item, isOne: true, isOther: value === 'other' }))
      }
      found.push(...this.#runs(tokens, at, item))
    }
    const text = (end: number) =>
      tokens
        .slice(start, end)
        .map(({ key }) => key)
        .join(' ')
    return found.map(({ item, end }) => ({ end, item: { ...item, text: text(end) } }))
  }

  /** Articles and quantifiers in front. */
  #leads(tokens: readonly Token[], start: number, base: Item): { at: number; item: Item }[] {
    const leads = [{ at: start, item: base }]
    for (let index = 0; index < leads.length && leads.length < 12; index++) {
      const { at, item } = leads[index] as { at: number; item: Item }
      for (const { value, end } of this.#classes.at(tokens, at)) {
        if (value === 'the') leads.push({ at: end, item })
        if (value === 'all') leads.push({ at: end, item: { ...item, isAll: true } })
        if (value === 'both') leads.push({ at: end, item: { ...item, isAll: true, isBoth: true } })
        if (value === 'other') leads.push({ at: end, item: { ...item, isOther: true } })
      }
    }
    return leads
  }

  /** Words of names, rooms and kinds in a row, with a place after any of them. */
  #runs(tokens: readonly Token[], start: number, item: Item): { item: Item; end: number }[] {
    const found: { item: Item; end: number }[] = []
    let current = item
    let at = start
    for (let length = 0; length < MAX_RUN; length++) {
      const word = this.#wordAt(tokens, at)
      if (!word) break
      at = word.end
      current = {
        ...current,
        words: [...current.words, ...word.words],
        isPlural: current.isPlural || word.isPlural,
      }
      found.push(...this.#places(tokens, at, current))
      for (const { value, end } of this.#classes.at(tokens, at))
        if (value === 'one') found.push(...this.#places(tokens, end, { ...current, isOne: true }))
    }
    return found
  }

  /** An item, and the same with "in the kitchen" behind it. */
  #places(tokens: readonly Token[], pos: number, item: Item): { item: Item; end: number }[] {
    const found = [{ item, end: pos }]
    for (const { value, end } of this.#classes.at(tokens, pos)) {
      if (value === 'here') found.push({ item: { ...item, isHere: true }, end })
      if (value === 'house') found.push({ item: { ...item, isPlural: true }, end })
      if (value !== 'in') continue
      for (const { at } of this.#leads(tokens, end, item))
        for (const place of this.#classes.at(tokens, at)) {
          if (place.value === 'house') found.push({ item: { ...item, isPlural: true }, end: place.end })
          if (place.value === 'here') found.push({ item: { ...item, isHere: true }, end: place.end })
        }
      for (const { at } of this.#leads(tokens, end, item)) {
        const words: string[] = []
        let next = at
        for (
          let word = this.#wordAt(tokens, next);
          word && words.length < MAX_RUN;
          word = this.#wordAt(tokens, next)
        ) {
          words.push(...word.words)
          next = word.end
          found.push({ item: { ...item, place: [...item.place, ...words] }, end: next })
        }
      }
    }
    return found
  }

  /** A word of the home: also two written as one, or one written as two or three. */
  #wordAt(
    tokens: readonly Token[],
    pos: number,
  ): { words: string[]; end: number; isPlural: boolean } | undefined {
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
      const joined = tokens
        .slice(pos, pos + size)
        .map(({ key }) => key)
        .join('')
      if (tokens.length >= pos + size && this.#literal.has(this.#canon(joined)))
        return { words: [this.#canon(joined)], end: pos + size, isPlural: false }
    }
    return undefined
  }

  /** Fills in what an item shares with its neighbours: "the kitchen and bedroom lights", "the lights and the tv in the den". */
  #inContext(items: readonly Item[], at: number, options: ResolveOptions): Item {
    const item = items[at] as Item
    if (item.pronoun || item.isEverything || items.length === 1) return item
    const last = items.at(-1) as Item
    const others = [items[at + 1], items[at - 1]].filter(each => each !== undefined)
    const tries = [
      ...others.map(({ words, isPlural }) => {
        const noun = words.filter(word => this.#nouns.has(word) && !item.words.includes(word)).slice(-1)
        const hasNoun = item.words.some(
          word => this.#byKind.has(word) || this.#exact.has(sorted([...item.words])),
        )
        return noun.length > 0 && !hasNoun
          ? { ...item, words: [...item.words, ...noun], isPlural }
          : undefined
      }),
      item.place.length === 0 && last.place.length > 0 ? { ...item, place: last.place } : undefined,
    ]
    return tries.find(each => each && !('problem' in this.#resolveItem(each, options))) ?? item
  }

  #resolveItem(item: Item, options: ResolveOptions): Resolved {
    const { text, isHere } = item
    if (item.pronoun) return this.#pronoun(item, options)
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

  #pronoun({ pronoun, text, isBoth }: Item, { last, kinds, among }: ResolveOptions): Resolved {
    const ids = isBoth && among ? among : (pronoun && last?.[pronoun]) || []
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
  #subset(words: readonly string[], isMeant: (device: Device) => boolean, isEverything: boolean): Device[] {
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

function keyOfItem({ text: _, ...item }: Item): string {
  return JSON.stringify(item)
}

function add<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const known = map.get(key)
  if (known) known.add(value)
  else map.set(key, new Set([value]))
}

function count(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function roomsOf({ rooms = {} }: HomeSettings): Map<string, string> {
  return new Map(
    Object.entries(rooms).flatMap(([room, devices]) => devices.map(device => [device, room] as const)),
  )
}
