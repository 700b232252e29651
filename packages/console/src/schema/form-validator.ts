import type { RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from '@rjsf/utils'
import { ErrorSchemaBuilder } from '@rjsf/utils'
import type { JsonSchema } from '../api/types.ts'
import { type Problem, validate } from './validate.ts'

/** The small validator in the form that the form package asks for. */
export const formValidator: ValidatorType = {
  validateFormData(formData, schema): ValidationData<unknown> {
    const problems = problemsOf(formData, schema, schema)
    const tree = new ErrorSchemaBuilder()
    for (const { path, message } of problems) tree.addErrors(message, path)
    return { errors: problems.map(asFormError), errorSchema: tree.ErrorSchema }
  },
  isValid: (schema, formData, rootSchema) => problemsOf(formData, schema, rootSchema).length === 0,
  rawValidation: () => ({ errors: [] }),
}

function problemsOf(value: unknown, schema: RJSFSchema, root: RJSFSchema): Problem[] {
  return validate(value, schema, root as JsonSchema)
}

function asFormError({ path, message }: Problem): RJSFValidationError {
  const property = path.map(part => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
  return { property, message, stack: `${path.join('.')} ${message}` }
}
