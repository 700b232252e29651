import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { jsonSchemaOf, type StandardSchema } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'

const ALLOWED_NAME = /^[a-zA-Z0-9_-]{1,128}$/
const REFUSED_AT_THE_TOP = ['oneOf', 'anyOf', 'allOf']

/**
 * The tools that Anthropic takes, in LangChain's format. One tool with a name or a schema that it refuses would make
 * it refuse the whole request (or ChatAnthropic drop the tool silently), so such a one is left out with a warning.
 */
export function anthropicTools(tools: readonly Tool[], logger: Logger): Tool[] {
  return tools.flatMap(tool => {
    const problem = problemOf(tool)
    if (problem === undefined) return [inLangChainFormat(tool)]
    logger.warn({ tool: safeText(tool.name), reason: problem }, 'Tool left out: Anthropic does not take it')
    return []
  })
}

function problemOf(tool: Tool): string | undefined {
  if (!ALLOWED_NAME.test(tool.name)) return 'its name has other characters than letters, digits, _ and -'
  try {
    const schema = jsonSchemaOf(tool)
    const composition = REFUSED_AT_THE_TOP.find(key => Object.hasOwn(schema, key))
    return composition && `its schema has ${composition} at the top`
  } catch (error) {
    return (error as Error).message
  }
}

/** LangChain knows JSON Schema with a type, and zod; any other schema goes as the JSON Schema that it gives. */
function inLangChainFormat(tool: Tool): Tool {
  const schema = jsonSchemaOf(tool)
  const isTyped = schema === tool.schema && schema.type === 'object'
  const { vendor } = (tool.schema as Partial<StandardSchema>)['~standard'] ?? {}
  if (isTyped || vendor === 'zod') return tool
  const { name, description, invoke } = tool
  return { name, description, schema: { ...schema, type: 'object' }, invoke }
}
