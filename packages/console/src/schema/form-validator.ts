import { dereference, type OutputUnit, type Schema, type SchemaDraft, validate } from '@cfworker/json-schema'
import type { RJSFSchema, RJSFValidationError, ValidatorType } from '@rjsf/utils'
import { ErrorSchemaBuilder } from '@rjsf/utils'
import { isRecord } from '../api/guards.ts'
import { problemText } from './problem-text.ts'

/** The most schemas visited per task; beyond that everything passes, and the gateway checks it. */
const MAX_STEPS = 50_000

/** Not Ajv, which generates code, forbidden by the page's CSP. `root` comes from `formSchema`. */
export function formValidator(root: RJSFSchema): ValidatorType {
  const lookup = lookupOf(root as Schema)
  const draft = draftOf(root)
  limitSteps(Object.values(lookup))
  const errorsOf = (value: unknown, schema: RJSFSchema, first: boolean): OutputUnit[] => {
    try {
      return validate(withoutUndefined(value), schema as Schema, draft, lookup, first).errors
    } catch {
      // Out of steps, or a keyword with an invalid value.
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

/** Schemas by absolute URI, and by `#/…` for the pieces that the form validates. */
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

/** The validator has no limit, but reads this keyword of every schema it visits. */
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

/** A cleared field is absent; a cleared list item is still there. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : withoutUndefined(item)))
  if (!isRecord(value)) return value
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(given.map(([name, inner]) => [name, withoutUndefined(inner)]))
}

/** Keywords that only say that something inside them failed … */
const WRAPPERS = new Set(
  '$ref $recursiveRef properties additionalProperties unevaluatedProperties items prefixItems additionalItems unevaluatedItems allOf if dependentSchemas'.split(
    ' ',
  ),
)
/** … and keywords whose own error says it all. */
const WHOLES = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames'])

/** `false` is dropped too: it comes from a closed schema, and the gateway removes properties that it does not name. */
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

/** In the order of the form, so that the first error is the topmost. */
function inFormOrder(errors: FormError[], root: RJSFSchema): FormError[] {
  const placed = errors.map(error => ({ error, place: placeOf(error.path, root) }))
  return placed.sort((a, b) => compared(a.place, b.place)).map(({ error }) => error)
}

/** The position of each path segment among its siblings, as far as the schema says. */
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
