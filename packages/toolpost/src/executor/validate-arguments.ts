import type { ErrorObject } from 'ajv'
import { explainErrors } from '../schema/explain-errors.ts'
import { type Arguments, checkArguments } from './check-arguments.ts'
import { extraArguments, withoutExtras } from './extra-arguments.ts'
import { type Failure, invalidArguments } from './failure.ts'
import { parseJsonText, parseNearlyJson } from './json-text.ts'
import type { Plan } from './plan.ts'
import { repairArguments } from './repair-arguments.ts'

/** Text in text in text: each round of repairs may uncover another. */
const MAX_REPAIRS = 50
/** Leaving out uncovers what lies deeper; no schema that people write needs more. */
const MAX_REMOVALS = 100

export interface Validated {
  args: Arguments
  repairs?: string[]
}

/**
 * Stages 3 and 4: arguments that fit the schema, or `invalid_arguments`. What a closed schema does not know is
 * left out; `repair` puts right what is certain. The arguments given are never changed: repairs are made on a copy.
 */
export function validateArguments(plan: Plan, given: Arguments, repair: boolean): Validated | Failure {
  const findErrors = (trial: Arguments) => errorsIn(plan, trial) ?? []
  let args = given
  const repairs: string[] = []
  for (let removals = 0; ; ) {
    const errors = errorsIn(plan, args)
    if (!errors) return refined(plan, repairs.length > 0 ? { args, repairs } : { args })
    const extras = extraArguments(errors, plan.schema)
    if (extras.size > 0 && removals++ < MAX_REMOVALS) {
      args = withoutExtras(args, extras)
      continue
    }
    const repaired =
      repair && repairs.length < MAX_REPAIRS ? repairArguments(args, errors, findErrors) : undefined
    if (!repaired || repaired.repairs.length === 0 || checkArguments(repaired.args)) {
      return invalidArguments(explainErrors(errors), plan.tool, plan.schema)
    }
    args = repaired.args
    repairs.push(...repaired.repairs)
  }
}

function refined(plan: Plan, validated: Validated): Validated | Failure {
  const problems = plan.refine?.(validated.args) ?? []
  return problems.length === 0 ? validated : invalidArguments(problems, plan.tool, plan.schema)
}

function errorsIn(plan: Plan, args: Arguments): readonly ErrorObject[] | undefined {
  return plan.validate(args) ? undefined : (plan.validate.errors ?? [])
}

/** The arguments as an object where they came as text, as some models send them. */
export async function argumentsFromText(text: string): Promise<Arguments | undefined> {
  let value: unknown = text.trim() === '' ? {} : (parseJsonText(text) ?? (await parseNearlyJson(text)))
  if (typeof value === 'string') value = parseJsonText(value)
  return checkArguments(value) === undefined ? (value as Arguments) : undefined
}
