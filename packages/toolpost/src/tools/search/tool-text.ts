import { isRecord } from '../../runtime/guards.ts'
import { jsonSchemaOf, propertiesOf } from '../../schema/json-schema.ts'
import type { Tool } from '../tool.ts'
import { splitWords, termOf } from './words.ts'

/** What a tool is found by: stems with blanks between them. */
export interface ToolText {
  id: number
  name: string
  title: string
  description: string
  /** Names of parameters. */
  parameters: string
  /** Their descriptions and the values they can have. */
  details: string
  server: string
}

/** Longer texts say no more about what a tool does. */
const MAX_CHARACTERS = 4_000
const MAX_PARAMETERS = 50
const MAX_DEPTH = 3

/** What can be read of a tool; a schema that cannot is left out. */
export function textOfTool(tool: Tool, server: string | undefined): Omit<ToolText, 'id'> {
  const parameters: string[] = []
  const details: string[] = []
  try {
    collect(jsonSchemaOf(tool), { parameters, details }, 0)
  } catch {
    // Found by its name and description.
  }
  return {
    name: terms(tool.name),
    title: terms(tool.title ?? ''),
    description: terms(tool.description ?? ''),
    parameters: terms(parameters.join(' ')),
    details: terms(details.join(' ')),
    server: terms(server ?? ''),
  }
}

interface Collected {
  parameters: string[]
  details: string[]
}

function collect(schema: unknown, into: Collected, depth: number): void {
  if (!isRecord(schema) || depth > MAX_DEPTH) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (into.parameters.length >= MAX_PARAMETERS) return
    into.parameters.push(name)
    if (!isRecord(property)) continue
    const { description, title, enum: values } = property
    for (const text of [title, description]) if (typeof text === 'string') into.details.push(text)
    if (Array.isArray(values))
      into.details.push(...values.slice(0, 20).filter(value => typeof value === 'string'))
    collect(property, into, depth + 1)
    collect(property.items, into, depth + 1)
  }
}

function terms(text: string): string {
  return splitWords(text.slice(0, MAX_CHARACTERS)).map(termOf).join(' ')
}
