import { dereference, type OutputUnit, type Schema, type SchemaDraft, validate } from '@cfworker/json-schema'
import type { RJSFSchema, RJSFValidationError, ValidatorType } from '@rjsf/utils'
import { ErrorSchemaBuilder } from '@rjsf/utils'
import { isRecord } from '../api/guards.ts'
import { problemText } from './problem-text.ts'

/** Schemas that are visited in one task of the page; what is left then passes, and the gateway checks it. */
const MAX_STEPS = 50_000

/** Not Ajv: it makes functions out of text, which the page's policy forbids. `root` comes from `formSchema`. */
export function formValidator(root: RJSFSchema): ValidatorType {
  const lookup = lookupOf(root as Schema)
  const draft = draftOf(root)
  limitSteps(Object.values(lookup))
  const errorsOf = (value: unknown, schema: RJSFSchema, first: boolean): OutputUnit[] => {
    try {
      return validate(withoutUndefined(value), schema as Schema, draft, lookup, first).errors
    } catch {
      // Out of steps, or a keyword with a value that is none.
      return []
    }
  }
  return {
    validateFormData(formData, schema) {
      const errors = inFormOrder(causes(errorsOf(formData ?? {}, schema, false)).map(formError), root)
      const tree = new ErrorSchemaBuilder()
      for (const { path, message } of errors) tree.addErrors(message, path)
      return { errors, errorSchema: tree.ErrorSchema }
    },
    isValid: (schema, value) => value !== undefined && errorsOf(value, schema, true).length === 0,
    rawValidation: () => ({ errors: [] }),
  }
}

/** Schemas by their absolute address, and by `#/…` for the pieces that the form makes of them. */
function lookupOf(root: Schema): Record<string, Schema | boolean> {
  const lookup: Record<string, Schema | boolean> = dereference(root)
  for (const [address, schema] of Object.entries(lookup)) {
    const [, pointer = ''] = address.split('#')
    lookup[`#${pointer}`] = schema
  }
  return lookup
}

function draftOf({ $schema }: RJSFSchema): SchemaDraft {
  const [, draft] = /draft-0?(4|6|7|2019-09)/.exec(String($schema)) ?? []
  if (draft === '4' || draft === '2019-09') return draft
  return draft === undefined ? '2020-12' : '7'
}

/** The validator has no limit of its own, but reads this keyword of every schema that it visits. */
function limitSteps(schemas: (Schema | boolean)[]): void {
  let steps = 0
  const step = () => {
    if (steps === 0) setTimeout(() => (steps = 0))
    steps += 1
    if (steps > MAX_STEPS) throw new RangeError('Too many steps')
  }
  for (const schema of schemas)
    if (typeof schema === 'object')
      Object.defineProperty(schema, '$recursiveAnchor', { get: step, configurable: true })
}

/** A field that was emptied is not given; an item that was emptied is still there. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : withoutUndefined(item)))
  if (!isRecord(value)) return value
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(given.map(([name, inner]) => [name, withoutUndefined(inner)]))
}

/** Keywords that only say that something inside of them failed … */
const WRAPPERS = new Set(
  '$ref $recursiveRef properties additionalProperties unevaluatedProperties items prefixItems additionalItems unevaluatedItems allOf if dependentSchemas'.split(
    ' ',
  ),
)
/** … and keywords that say it all by themselves. */
const WHOLES = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])

/** `false` is dropped as well: it is a closed schema, and the gateway leaves out what that does not name. */
function causes(errors: OutputUnit[]): OutputUnit[] {
  const wholes = errors.filter(({ keyword }) => WHOLES.has(keyword)).map(error => `${error.keywordLocation}/`)
  return errors.filter(
    ({ keyword, keywordLocation }) =>
      keyword !== 'false' &&
      !WRAPPERS.has(keyword) &&
      !wholes.some(whole => keywordLocation.startsWith(whole)),
  )
}

interface FormError extends RJSFValidationError {
  message: string
  path: string[]
}

function formError(error: OutputUnit): FormError {
  const path = error.instanceLocation.split('/').slice(1).map(decoded)
  if (error.keyword === 'required') path.push(error.error.slice(error.error.indexOf('"') + 1, -2))
  const message = problemText(error)
  return {
    path,
    message,
    property: path.map(part => `.${part}`).join(''),
    stack: `${path.join('.')} ${message}`,
  }
}

/** From the top of the form to its end, so that the first is the one to begin with. */
function inFormOrder(errors: FormError[], root: RJSFSchema): FormError[] {
  const placed = errors.map(error => ({ error, place: placeOf(error.path, root) }))
  return placed.sort((a, b) => compared(a.place, b.place)).map(({ error }) => error)
}

/** The place of each step of the path among its neighbours, as far as the schema tells. */
function placeOf(path: string[], root: RJSFSchema): number[] {
  let schema: unknown = root
  return path.map(part => {
    const { properties, items } = isRecord(schema) ? schema : {}
    const names = isRecord(properties) ? Object.keys(properties) : []
    schema = isRecord(properties) && Object.hasOwn(properties, part) ? properties[part] : items
    return names.includes(part) ? names.indexOf(part) : (wholeNumber(part) ?? names.length)
  })
}

function compared(a: number[], b: number[]): number {
  const at = a.findIndex((place, index) => place !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? -1)
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function decoded(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}
