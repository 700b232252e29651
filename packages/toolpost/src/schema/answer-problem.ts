import { explainErrors } from './explain-errors.ts'
import type { JsonSchema } from './json-schema.ts'
import { isDearToCompile } from './validation-cost.ts'

/** More than a form has. */
const MAX_SCHEMA_CHARACTERS = 16_000

/** Whether a form of this schema can be shown, and what is filled in be checked while somebody waits. */
export function isForm(schema: JsonSchema): boolean {
  return JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS && !isDearToCompile(schema)
}

/** What is wrong with what somebody filled in, in words; nothing if it fits. */
export async function answerProblem(schema: JsonSchema, content: unknown): Promise<string | undefined> {
  if (!isForm(schema)) return 'its form is too large'
  const { compileSchema } = await import('./compile-schema.ts')
  try {
    const { validate } = await compileSchema(schema)
    return validate(content) ? undefined : explainErrors(validate.errors ?? []).join('; ')
  } catch {
    return 'its form is malformed'
  }
}
