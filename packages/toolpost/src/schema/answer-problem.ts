import { explainErrors } from './explain-errors.ts'
import type { JsonSchema } from './json-schema.ts'
import { isExpensiveToCompile } from './validation-cost.ts'

/** Larger than any real form. */
const MAX_SCHEMA_CHARACTERS = 16_000

/** Whether a form for this schema can be shown, and the input checked while a person waits. */
export function isForm(schema: JsonSchema): boolean {
  return JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS && !isExpensiveToCompile(schema)
}

/** What is wrong with a filled-in form, as text; `undefined` if it is valid. */
export async function answerProblem(schema: JsonSchema, content: unknown): Promise<string | undefined> {
  if (!isForm(schema)) return 'its form is too large'
  const { compileSchema } = await import('./compile-schema.ts')
  try {
    const { validate } = await compileSchema(schema)
    return validate(content)
      ? undefined
      : explainErrors(validate.errors ?? [], validate.schema as JsonSchema).join('; ')
  } catch {
    return 'its form is malformed'
  }
}
