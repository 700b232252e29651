import type { JsonSchema } from '../../schema/json-schema.ts'
import { anyOf, both, ownSchema, typesOf } from './combine.ts'

/** How many forms are spelled out for a model; more would not help it. */
const MAX_FORMS = 8
const MAX_NOTE_CHARS = 600
/** Forms times names; beyond that, the forms are left out. */
const MAX_COMPARISONS = 50_000

/**
 * Folds a top-level `anyOf` into the schema itself, since no provider accepts one there. A name that some form leaves
 * open may have any value there, so it may have any in the result; the forms go into the description.
 */
export function foldForms(schema: JsonSchema): JsonSchema {
  const { anyOf: given, ...base } = schema
  if (!Array.isArray(given)) return schema
  const forms = (given as JsonSchema[])
    .filter(({ type }) => typesOf(type)?.includes('object') ?? true)
    .map(foldForms)
  if (forms.length === 0) return base
  if (forms.length === 1) return foldForms(both(base, forms[0] as JsonSchema))
  const names = new Set([base, ...forms].flatMap(({ properties }) => Object.keys(properties ?? {})))
  if (names.size * forms.length > MAX_COMPARISONS) return base
  const properties = Object.fromEntries([...names].map(name => [name, foldedProperty(name, base, forms)]))
  const required = foldedRequired(base, forms)
  const isClosed = forms.every(({ additionalProperties }) => additionalProperties === false)
  const description = [base.description, inWords(base, forms)].filter(Boolean).join(' ')
  return {
    ...base,
    properties,
    ...(required.length > 0 && { required }),
    ...(isClosed && { additionalProperties: false }),
    ...(description !== '' && { description }),
  }
}

function foldedProperty(name: string, base: JsonSchema, forms: readonly JsonSchema[]): JsonSchema {
  const own = ownSchema(base.properties, name)
  const variants = forms.map(form => ownSchema(form.properties, name))
  if (own && variants.includes(undefined)) return own
  const possible = forms.flatMap((form, index) => {
    const variant = variants[index]
    if (variant) return [variant]
    // A closed form does not accept the name at all; an open one accepts any value.
    return form.additionalProperties === false ? [] : [{}]
  })
  return anyOf(possible)
}

function foldedRequired(base: JsonSchema, forms: readonly JsonSchema[]): string[] {
  const [first, ...rest] = forms.map(({ required = [] }) => required as string[])
  const shared = (first ?? []).filter(name => rest.every(names => names.includes(name)))
  return [...new Set([...((base.required as string[] | undefined) ?? []), ...shared])]
}

/** `Use one of these forms: (1) action="create", title; (2) action="delete", id.` */
function inWords(base: JsonSchema, forms: readonly JsonSchema[]): string {
  const known = new Set((base.required as string[] | undefined) ?? [])
  const words = forms.map(form => formInWords(form, known)).filter(text => text !== '')
  if (words.length < 2) return ''
  const listed = words.slice(0, MAX_FORMS).map((text, index) => `(${index + 1}) ${text}`)
  const note = `Use one of these forms: ${listed.join('; ')}`
  return note.length > MAX_NOTE_CHARS || words.length > MAX_FORMS
    ? `${note.slice(0, MAX_NOTE_CHARS)} …`
    : `${note}.`
}

function formInWords({ required = [], properties }: JsonSchema, known: ReadonlySet<string>): string {
  const parts = (required as string[]).flatMap(name => {
    const values = ownSchema(properties, name)?.enum as unknown[] | undefined
    if (values?.length === 1) return [`${name}=${JSON.stringify(values[0])}`]
    return known.has(name) ? [] : [name]
  })
  return parts.join(', ')
}
