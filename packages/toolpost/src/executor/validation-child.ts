// Runs in the child process: validation may take as long as it likes, since the child can be killed.
import { describeThrown } from '../runtime/quietly.ts'
import { compileSchema, forgetCompiled } from '../schema/compile-schema.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Arguments } from './check-arguments.ts'
import { type Validated, validateArguments } from './validate-arguments.ts'

interface Request {
  /** As text, which identifies a schema that was compiled before. */
  schema: string
  /** As JSON if they are plain data: cloning many small objects is slow. */
  args: Arguments | string
  repair: boolean
}

export interface ChildAnswer {
  /** Left out if the arguments are fine as they are; JSON if they came as JSON. */
  validated?: Validated | string
  leftOut: string[]
  /** Why the schema cannot be used. */
  unusable?: string
}

/** Only large schemas end up here, so few are kept. */
const MAX_KEPT = 16
const schemas = new Map<string, JsonSchema>()

/** Arguments that need more are something else entirely. */
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
  if (error instanceof RangeError) return 'its chain of references is too long or endless'
  return describeThrown(error)
}
