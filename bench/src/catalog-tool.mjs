import { defineTool } from 'toolpost'

export const nameOf = index => `tool_${index}`

export const argsOf = index => ({ [`subject_${index}`]: 'it', mode: 'fast' })

/** Every tool has a different schema, so that no compiled form is shared. */
export function toolOf(index) {
  const subject = `subject_${index}`
  const options = {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' } },
    },
  }
  return defineTool({
    name: nameOf(index),
    description: `Tool number ${index} of a large catalog`,
    schema: {
      type: 'object',
      properties: {
        [subject]: { type: 'string' },
        mode: { type: 'string', enum: ['fast', 'exact'] },
        options,
      },
      required: [subject],
    },
    handler: async args => args[subject],
  })
}
