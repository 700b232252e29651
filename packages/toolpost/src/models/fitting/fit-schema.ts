import { isRecord } from '../../runtime/guards.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { SchemaFitter, TooLarge } from './fit-parts.ts'
import { foldForms } from './fold-forms.ts'
import { type FittingProvider, RULES, type SchemaChange } from './rules.ts'
import { safeNames, withNames } from './safe-names.ts'

type Arguments = Record<string, unknown>

/** An argument schema that a provider accepts. */
export interface FittedSchema {
  /** Accepts what the original accepts, under the provider's names, and perhaps more. A fresh copy. */
  readonly schema: JsonSchema
  /** What was changed or left out. */
  readonly changes: readonly SchemaChange[]
  /** Translates a model's arguments back to the original names. */
  nameBack(args: Arguments): Arguments
  /** Translates arguments to the names the model was given. */
  rename(args: Arguments): Arguments
}

/** How deeply a schema is expanded: the first depth at which it is small enough. */
const DEPTHS = [16, 8, 4, 2, 1]

/**
 * Rewrites an argument schema so that a provider accepts it. It is for the model only: arguments are validated against
 * the original. Works on any schema, in bounded time.
 */
export function fitSchema(schema: JsonSchema, provider: FittingProvider): FittedSchema {
  if (!Object.hasOwn(RULES, provider))
    throw new TypeError(`invalid provider '${provider}'; expected one of ${Object.keys(RULES).join(', ')}`)
  const { fitted, fitter } = written(isRecord(schema) ? schema : {}, provider)
  const { argumentName } = RULES[provider]
  const renames = argumentName ? safeNames(namesIn(fitted), argumentName) : new Map<string, string>()
  for (const [name, safe] of renames) fitter.note('#/properties', name, `renamed to ${safe}`)
  const back = new Map([...renames].map(([name, safe]) => [safe, name]))
  return {
    schema: atTheTop(withSafeNames(fitted, renames), fitter),
    changes: fitter.changes,
    nameBack: args => withNames(args, back, 'given'),
    rename: args => withNames(args, renames, 'renamed'),
  }
}

function written(
  schema: JsonSchema,
  provider: FittingProvider,
): { fitted: JsonSchema; fitter: SchemaFitter } {
  for (const maxDepth of DEPTHS) {
    const isLast = maxDepth === DEPTHS.at(-1)
    const fitter = new SchemaFitter({ provider, maxDepth, isLast })
    try {
      return { fitted: fitter.fitRoot(schema), fitter }
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
  }
  throw new Error('unreachable: the last attempt is never too large')
}

/** Arguments are an object, and no provider accepts alternatives at the top level. */
function atTheTop(fitted: JsonSchema, fitter: SchemaFitter): JsonSchema {
  if (fitted.anyOf) fitter.note('#', 'anyOf', 'folded into properties')
  if (fitted.type !== 'object') fitter.note('#', 'type', "set to 'object'")
  const { title, description, properties, required, additionalProperties, ...rest } = foldForms(fitted)
  for (const keyword of Object.keys(rest))
    if (keyword !== 'type' && keyword !== 'default') fitter.note('#', keyword, 'left out at the top')
  if (!properties) fitter.note('#', 'properties', 'added')
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    properties: properties ?? {},
    ...(required !== undefined && { required }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
}

/** The argument names of all forms. */
function namesIn({ properties, anyOf }: JsonSchema): string[] {
  return [...Object.keys(properties ?? {}), ...formsIn(anyOf).flatMap(namesIn)]
}

function formsIn(anyOf: unknown): JsonSchema[] {
  return Array.isArray(anyOf) ? anyOf : []
}

/** The same schema with its arguments renamed, in all forms. */
function withSafeNames(schema: JsonSchema, renames: ReadonlyMap<string, string>): JsonSchema {
  if (renames.size === 0) return schema
  const { required, properties, anyOf } = schema as {
    required?: string[]
    properties?: JsonSchema
    anyOf?: unknown
  }
  const entries = Object.entries(properties ?? {}) as [string, JsonSchema][]
  const renamed = entries.map(([name, one]): [string, JsonSchema] => {
    const safe = renames.get(name)
    if (safe === undefined) return [name, one]
    return [safe, { ...one, description: [one.description, `(${name})`].filter(Boolean).join(' ') }]
  })
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(renamed) }),
    ...(required && { required: required.map(name => renames.get(name) ?? name) }),
    ...(anyOf !== undefined && { anyOf: formsIn(anyOf).map(form => withSafeNames(form, renames)) }),
  }
}
