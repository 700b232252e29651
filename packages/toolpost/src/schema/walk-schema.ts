/*
 * The only way to walk a JSON Schema. Schemas are foreign: they refer to themselves, share parts and multiply. So a walk
 * visits every part once, by reference, within a budget; anything beyond is left unread.
 */
import { isRecord } from '../runtime/guards.ts'
import { type JsonSchema, refTarget } from './json-schema.ts'

const MAX_FORMS = 2_000

/** The keywords that hold schemas, by what those apply to: the same value, the entries of a list, properties. */
const KEYWORDS = {
  branches: 'allOf anyOf oneOf not if then else dependentSchemas dependencies',
  items: 'items prefixItems additionalItems contains unevaluatedItems',
  byPattern: 'patternProperties',
  others: 'additionalProperties unevaluatedProperties',
  names: 'propertyNames',
} as const

type Kind = keyof typeof KEYWORDS

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, keywords]) => keywords.split(' ').map(key => [key, kind as Kind])),
)
/** Keywords that hold a map of schemas. */
const MAPS = new Set(['dependentSchemas', 'dependencies', 'patternProperties'])

/** A schema taken apart, one level deep. */
export interface Form {
  readonly schema: JsonSchema
  /** Schemas for the same value: the target of its `$ref`, and its branches. */
  readonly branches: JsonSchema[]
  /** Schemas for the entries of a list; those of a tuple all together. */
  readonly items: JsonSchema[]
  readonly declared: Readonly<Record<string, unknown>> | undefined
  /** Schemas for properties whose names match a pattern. */
  readonly byPattern: JsonSchema[]
  /** Schemas for properties that are not declared. */
  readonly others: JsonSchema[]
  readonly names: JsonSchema[]
}

/** Takes a schema apart; its references point into `root`. */
export function formOf(schema: JsonSchema, root: JsonSchema): Form {
  const { properties } = schema
  const declared = isRecord(properties) ? properties : undefined
  const form: Form = { schema, declared, branches: [], items: [], byPattern: [], others: [], names: [] }
  addSchemas(form.branches, refTarget(schema, root))
  for (const key of Object.keys(schema)) {
    const kind = KINDS.get(key)
    const value = schema[key]
    if (kind) addSchemas(form[kind], MAPS.has(key) && isRecord(value) ? Object.values(value) : value)
  }
  return form
}

function addSchemas(schemas: JsonSchema[], value: unknown): void {
  for (const one of Array.isArray(value) ? value : [value]) if (isRecord(one)) schemas.push(one)
}

/** The schemas that a form applies to a property; those by pattern are included without testing the pattern. */
export function formsOfProperty({ declared, byPattern, others }: Form, name: string): JsonSchema[] {
  if (!declared || !Object.hasOwn(declared, name))
    return byPattern.length === 0 ? others : [...byPattern, ...others]
  const own = declared[name]
  return isRecord(own) ? [own, ...byPattern] : byPattern
}

/** Every schema that applies to the same value as `schemas`: themselves, their `$ref` targets and branches. Each once. */
export function formsOf(schemas: Iterable<unknown>, root: JsonSchema): Form[] {
  const seen = new Set<JsonSchema>()
  const add = (schema: unknown) => {
    if (isRecord(schema) && seen.size < MAX_FORMS) seen.add(schema)
  }
  for (const schema of schemas) add(schema)
  const forms: Form[] = []
  // Schemas added during the loop are visited too.
  for (const schema of seen) {
    const form = formOf(schema, root)
    forms.push(form)
    form.branches.forEach(add)
  }
  return forms
}

/** Finds every schema that applies to the value at a path within what `root` describes. */
export function formFinder(root: JsonSchema): (path: readonly string[]) => readonly Form[] {
  interface Place {
    readonly forms: readonly Form[]
    readonly inner: Map<string, Place>
  }
  const top: Place = { forms: formsOf([root], root), inner: new Map() }
  return path => {
    let place = top
    for (const part of path) {
      // Entries of a list share their schemas: 40,000 of them are looked up as one.
      const isIndex = isDigits(part)
      const key = isIndex ? '0' : part
      let next = place.inner.get(key)
      if (!next) {
        const schemas = place.forms.flatMap(form => [
          ...(isIndex ? form.items : []),
          ...formsOfProperty(form, part),
        ])
        next = { forms: formsOf(schemas, root), inner: new Map() }
        place.inner.set(key, next)
      }
      place = next
    }
    return place.forms
  }
}

function isDigits(part: string): boolean {
  const code = part.charCodeAt(0)
  return code >= 48 && code <= 57 && /^\d+$/.test(part)
}

/** Every argument name that a schema declares or requires at its top level, in any of its branches. */
export function knownNames(schema: JsonSchema): Set<string> {
  const forms = formsOf([schema], schema)
  const names = namesIn(forms)
  for (const {
    schema: { required },
  } of forms)
    if (Array.isArray(required)) for (const name of required) if (typeof name === 'string') names.add(name)
  return names
}

export function namesIn(forms: Iterable<Form>): Set<string> {
  const names = new Set<string>()
  for (const { declared } of forms) for (const name of Object.keys(declared ?? {})) names.add(name)
  return names
}

/** Whether a schema allows names it does not list: by pattern, by a schema for all others, or by one for the names. */
export function isNameMap(schema: JsonSchema): boolean {
  return formsOf([schema], schema).some(
    ({ byPattern, others, names, schema: { patternProperties } }) =>
      byPattern.length + others.length + names.length > 0 || isRecord(patternProperties),
  )
}
