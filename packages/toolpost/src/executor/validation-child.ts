// What runs in the child process: validation that may take as long as it likes, since the child can be killed.
import { describeThrown } from '../runtime/quietly.ts'
import { compileSchema, forgetCompiled } from '../schema/compile-schema.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Arguments } from './check-arguments.ts'
import { type Validated, validateArguments } from './validate-arguments.ts'

interface Request {
  /** As text, by which a schema that was compiled before is known. */
  schema: string
  /** As JSON, if they are plain data: cloning many small objects takes long. */
  args: Arguments | string
  repair: boolean
}

export interface ChildAnswer {
  /** Absent if the arguments are fine as they are; as JSON, if they came so. */
  validated?: Validated | string
  leftOut: string[]
  /** Why the schema cannot be used. */
  unusable?: string
}

/** Large schemas only come here: few are kept. */
const MAX_KEPT = 16
const schemas = new Map<string, JsonSchema>()

/** More would only be tried on arguments that are something else. */
const TRIALS = 100

export async function validate({ schema: text, args: given, repair }: Request): Promise<ChildAnswer> {
  try {
    const args: Arguments = typeof given === 'string' ? JSON.parse(given) : given
    const schema = schemaOf(text)
    const { validate, leftOut } = await compileSchema(schema)
    const validated = validateArguments({ schema, validate }, args, repair ? TRIALS : 0)
    if (validated.args === args) return { leftOut }
    return { validated: typeof given === 'string' ? JSON.stringify(validated) : validated, leftOut }
  } catch (error) {
    return { leftOut: [], unusable: reason(error) }
  }
}

function schemaOf(text: string): JsonSchema {
  const known = schemas.get(text)
  if (known) return known
  if (schemas.size >= MAX_KEPT) {
    schemas.clear()
    forgetCompiled()
  }
  const schema: JsonSchema = JSON.parse(text)
  schemas.set(text, schema)
  return schema
}

function reason(error: unknown): string {
  if (error instanceof RangeError) return 'its references are a chain that is too long, or endless'
  return describeThrown(error)
}
