import type { ErrorObject, ValidateFunction } from 'ajv'
import { explainErrors } from '../schema/explain-errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { withoutKeys } from './change-arguments.ts'
import { type Arguments, weighArguments } from './check-arguments.ts'
import { extraArguments } from './extra-arguments.ts'
import { parseJsonText, parseNearlyJson } from './json-text.ts'
import { repairArguments } from './repair-arguments.ts'

/** Each round of repairs may uncover another problem, such as text inside text inside text. */
const MAX_REPAIRS = 50
/** The most validations per call, however cheap they are. */
const MAX_TRIALS = 300

export interface Validator {
  readonly schema: JsonSchema
  readonly validate: ValidateFunction
}

/** Valid arguments and their repairs, or what is wrong with them. */
export type Validated =
  | { args: Arguments; repairs?: string[]; problems?: undefined }
  | { problems: string[]; args?: undefined; repairs?: undefined }

/**
 * Arguments that fit the schema. Names that a closed schema does not know are dropped. With `trials`, certain repairs are
 * made, with at most that many validations. The given arguments are never changed: repairs are made on a copy.
 */
export function validateArguments(validator: Validator, given: Arguments, trials = 0): Validated {
  const { schema, validate } = validator
  let left = Math.min(trials, MAX_TRIALS)
  const findErrors = (trial: Arguments): readonly ErrorObject[] => {
    left--
    return validate(trial) ? [] : (validate.errors ?? [])
  }
  let args = given
  const repairs: string[] = []
  for (let removals = 0; !validate(args); ) {
    const errors = validate.errors ?? []
    const extras = extraArguments(errors, schema)
    if (extras.size > 0 && removals++ < MAX_REPAIRS) {
      args = withoutKeys(args, extras)
      continue
    }
    const repaired =
      left > 0 && repairs.length < MAX_REPAIRS
        ? repairArguments(args, errors, { root: schema, findErrors })
        : undefined
    if (!repaired || typeof weighArguments(repaired.args) === 'string')
      return { problems: explainErrors(errors, validate.schema as JsonSchema) }
    args = repaired.args
    repairs.push(...repaired.repairs)
  }
  return repairs.length > 0 ? { args, repairs } : { args }
}

/** Parses arguments given as text, as some models send them. */
export async function argumentsFromText(text: string): Promise<Arguments | undefined> {
  let value: unknown = text.trim() === '' ? {} : (parseJsonText(text) ?? (await parseNearlyJson(text)))
  if (typeof value === 'string') value = parseJsonText(value)
  return typeof weighArguments(value) === 'number' ? (value as Arguments) : undefined
}
