import { isRecord } from '../../runtime/guards.ts'
import { shortText } from '../../runtime/short-text.ts'
import { type JsonSchema, refTarget, resolveRef } from '../../schema/json-schema.ts'
import { anyOf, both } from './combine.ts'
import { fitValues, isPlainType, jsonCopy } from './fit-values.ts'
import {
  COPIED,
  ELSEWHERE,
  EXTRAS,
  type FittingProvider,
  isText,
  RULES,
  type SchemaChange,
  SILENT,
} from './rules.ts'

/** The schema `false`: no value is valid. */
export const NEVER = Symbol('never')

/** A fitted schema with more parts would weigh down every request. */
const MAX_PARTS = 2_000
/** How often a definition is expanded inside itself. */
const MAX_RECURSION = 2
/** References and `allOf` in a row. */
const MAX_HOPS = 50
const MAX_CHANGES = 50
const MAX_TEXT_CHARS = 4_000

/** The schema has more parts than a provider should get: it is fitted again, less deeply. */
export class TooLarge extends Error {}

interface Bounds {
  readonly provider: FittingProvider
  readonly maxDepth: number
  /** The last attempt: whatever is over budget is left out. */
  readonly isLast: boolean
}

/** Where the walk is. */
interface Spot {
  readonly place: string
  readonly depth: number
  readonly hops: number
  /** The document that references point into. */
  readonly root: JsonSchema
  /** The definitions enclosing this place. */
  readonly inside: readonly object[]
}

/** Rewrites a schema for a provider. What the provider cannot express is left out, so the result accepts more. */
export class SchemaFitter {
  readonly changes: SchemaChange[] = []
  readonly #bounds: Bounds
  #parts = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  fitRoot(root: JsonSchema): JsonSchema {
    const fitted = this.#fit(root, { place: '#', depth: 0, hops: 0, root, inside: [root] })
    return fitted === NEVER ? {} : fitted
  }

  note(place: string, keyword: string, change: string): void {
    if (this.changes.length < MAX_CHANGES) this.changes.push({ place, keyword, change })
  }

  #fit(schema: unknown, spot: Spot): JsonSchema | typeof NEVER {
    if (!isRecord(schema)) return this.#fitBoolean(schema, spot)
    if (++this.#parts > MAX_PARTS && !this.#bounds.isLast) throw new TooLarge()
    if (this.#isOver || spot.depth > this.#bounds.maxDepth || spot.hops > MAX_HOPS)
      return this.#cut(schema, spot, 'nested too deeply')
    const here = typeof schema.$id === 'string' ? { ...spot, root: schema } : spot
    let fitted: JsonSchema = this.#fitOwn(schema, here)
    for (const part of this.#conjuncts(schema, here)) {
      if (part === NEVER) return NEVER
      fitted = both(fitted, part)
    }
    return this.#withUnions(fitted, schema, here)
  }

  get #isOver(): boolean {
    return this.#parts > MAX_PARTS
  }

  #fitBoolean(schema: unknown, { place }: Spot): JsonSchema | typeof NEVER {
    if (schema === false) return NEVER
    this.note(place, String(schema), 'written as {}')
    return {}
  }

  /** Stands in for a part that is not expanded. */
  #cut(schema: JsonSchema, { place, root }: Spot, why: string): JsonSchema {
    this.note(place, typeof schema.$ref === 'string' ? '$ref' : 'properties', `cut: ${why}`)
    const { type, nullable } = resolveRef(schema, root) as JsonSchema
    const description = [schema.description, `(not described further: ${why})`].filter(isText).join(' ')
    return {
      ...(isPlainType(type) && nullable !== true && { type, ...(type === 'array' && { items: {} }) }),
      description: shortText(description, MAX_TEXT_CHARS),
    }
  }

  /** The other schemas the same value must match: references and `allOf`. */
  *#conjuncts(schema: JsonSchema, spot: Spot): Generator<JsonSchema | typeof NEVER> {
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef'])
      if (typeof schema[keyword] === 'string') yield this.#fitRef(schema, keyword, spot)
    const { allOf } = schema
    if (!Array.isArray(allOf)) return
    this.note(spot.place, 'allOf', 'merged')
    for (const [index, part] of allOf.entries())
      yield this.#fit(part, { ...spot, place: `${spot.place}/allOf/${index}`, hops: spot.hops + 1 })
  }

  #fitRef(schema: JsonSchema, keyword: string, spot: Spot): JsonSchema | typeof NEVER {
    const target = keyword === '$ref' ? refTarget(schema, spot.root) : undefined
    if (target === false) return NEVER
    if (!isRecord(target)) {
      if (target !== true) this.note(spot.place, keyword, 'left open: not in this document')
      return {}
    }
    this.note(spot.place, keyword, 'written out')
    const isDeepInside = spot.inside.filter(one => one === target).length >= MAX_RECURSION
    if (isDeepInside) return this.#cut(schema, spot, `see ${schema.$ref} above`)
    return this.#fit(target, { ...spot, hops: spot.hops + 1, inside: [...spot.inside, target] })
  }

  /** Adds `anyOf` or `oneOf`; only one of them fits next to the rest. */
  #withUnions(fitted: JsonSchema, schema: JsonSchema, spot: Spot): JsonSchema | typeof NEVER {
    let result = fitted
    for (const keyword of ['anyOf', 'oneOf']) {
      const given = schema[keyword]
      if (!Array.isArray(given) || given.length === 0) continue
      if (keyword === 'oneOf') this.note(spot.place, keyword, 'written as anyOf')
      const union = this.#fitUnion(given, `${spot.place}/${keyword}`, spot)
      if (union === NEVER) return NEVER
      if (result.anyOf && union.anyOf) this.note(spot.place, keyword, 'left out: there is another anyOf')
      else result = both(result, union)
    }
    return result
  }

  #fitUnion(given: readonly unknown[], place: string, spot: Spot): JsonSchema | typeof NEVER {
    const variants: JsonSchema[] = []
    for (const [index, one] of given.entries()) {
      if (this.#isOver) return {}
      const fitted = this.#fit(one, { ...spot, place: `${place}/${index}`, depth: spot.depth + 1 })
      if (fitted !== NEVER) variants.push(fitted)
    }
    return variants.length === 0 ? NEVER : anyOf(variants)
  }

  /** The schema's own keywords. */
  #fitOwn(schema: JsonSchema, spot: Spot): JsonSchema {
    const { provider } = this.#bounds
    const note = (keyword: string, change: string) => this.note(spot.place, keyword, change)
    const fitted: JsonSchema = {}
    for (const keyword of Object.keys(schema)) {
      const isCopied = Object.hasOwn(COPIED, keyword)
      const copy = isCopied && this.#takes(keyword) ? jsonCopy(schema[keyword]) : undefined
      if (copy !== undefined && COPIED[keyword]?.(copy))
        fitted[keyword] = isText(copy) ? shortText(copy, MAX_TEXT_CHARS) : copy
      else if (!SILENT.has(keyword) && !ELSEWHERE.has(keyword) && !keyword.startsWith('x-'))
        note(keyword, 'left out')
    }
    Object.assign(fitted, this.#fitObject(schema, spot), this.#fitItems(schema, spot))
    return fitValues(fitted, schema, { provider, note })
  }

  #takes(keyword: string): boolean {
    const { keywords } = RULES[this.#bounds.provider]
    return !EXTRAS.has(keyword) || keywords.has(keyword)
  }

  #fitObject(schema: JsonSchema, spot: Spot): JsonSchema {
    const { properties, required } = schema
    const inner = (place: string) => ({ ...spot, place: `${spot.place}/${place}`, depth: spot.depth + 1 })
    const fitted: JsonSchema = {}
    let hasAll = true
    if (isRecord(properties)) {
      const entries: [string, JsonSchema][] = []
      for (const name of inOrder(properties, required)) {
        hasAll &&= !this.#isOver
        if (!hasAll) break
        const one = this.#fit(properties[name], inner(`properties/${escaped(name)}`))
        if (one !== NEVER) entries.push([name, one])
      }
      fitted.properties = Object.fromEntries(entries)
      if (!hasAll) this.note(spot.place, 'properties', `cut after ${entries.length}`)
    }
    const names = Array.isArray(required) ? [...new Set(required.filter(isText))] : []
    const shown = hasAll ? names : names.filter(name => Object.hasOwn(fitted.properties as object, name))
    if (shown.length > 0) fitted.required = shown
    const rest = hasAll ? this.#fitRest(schema, inner) : undefined
    return rest === undefined ? fitted : { ...fitted, additionalProperties: rest }
  }

  /** The schema of undeclared properties, with `patternProperties` folded in. */
  #fitRest(
    { patternProperties, additionalProperties: rest }: JsonSchema,
    inner: (place: string) => Spot,
  ): JsonSchema | false | undefined {
    const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
    if (rest !== false && !isRecord(rest)) return undefined
    const variants = patterns.map(([name, schema]) =>
      this.#fit(schema, inner(`patternProperties/${escaped(name)}`)),
    )
    if (rest !== false) variants.push(this.#fit(rest, inner('additionalProperties')))
    const possible = variants.filter(variant => variant !== NEVER)
    if (possible.length === 0) return false
    return possible.some(isEmpty) ? undefined : anyOf(possible)
  }

  /** Arrays; the entries of a tuple are merged. */
  #fitItems(schema: JsonSchema, spot: Spot): JsonSchema {
    const { items, prefixItems, additionalItems, maxItems } = schema
    const [list, listed] = Array.isArray(items) ? [items, 'items'] : [prefixItems, 'prefixItems']
    const tuple = Array.isArray(list) ? list : []
    const rest = listed === 'items' ? additionalItems : items
    const inner = (place: string) => ({ ...spot, place: `${spot.place}/${place}`, depth: spot.depth + 1 })
    if (tuple.length > 0) this.note(spot.place, listed, 'entries merged')
    const variants = tuple.map((one, index) => this.#fit(one, inner(`${listed}/${index}`)))
    const length = { maxItems: Math.min(tuple.length, Number.isInteger(maxItems) ? Number(maxItems) : 1e9) }
    if (rest !== false) variants.push(isRecord(rest) ? this.#fit(rest, inner('items')) : {})
    const possible = variants.filter(variant => variant !== NEVER)
    const isOpen =
      possible.length === 0 || (possible.some(isEmpty) && !(tuple.length === 0 && isRecord(rest)))
    const fitted = isOpen ? {} : { items: anyOf(possible) }
    return rest === false && (tuple.length > 0 || items === false) ? { ...fitted, ...length } : fitted
  }
}

/** Required names come first, so that they are cut last. */
function inOrder(properties: JsonSchema, required: unknown): string[] {
  const names = Object.keys(properties)
  if (names.length <= MAX_PARTS || !Array.isArray(required)) return names
  const wanted = new Set(required)
  return [...names.filter(name => wanted.has(name)), ...names.filter(name => !wanted.has(name))]
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function isEmpty(schema: JsonSchema): boolean {
  return Object.keys(schema).every(key => key === 'description' || key === 'title')
}
