import { isRecord } from '../../runtime/guards.ts'
import { jsonSchemaOf, propertiesOf } from '../../schema/json-schema.ts'
import type { Tool } from '../tool.ts'
import { splitWords, termOf } from './words.ts'

/** A word's weight by where it occurs. Tuned by hand on half of the questions in bench/tool-search. */
const WEIGHTS = {
  name: 1,
  title: 0.9,
  server: 0.8,
  /** The first sentence of a description says what a tool is for; the rest, how to use it. */
  lead: 0.75,
  description: 0.35,
  parameter: 0.35,
  /** Descriptions of parameters, and the values they can have. */
  detail: 0.15,
}

/** Anything beyond adds nothing about what a tool does. */
const MAX_CHARACTERS = 4_000
const MAX_LEAD = 160
const MAX_PARAMETERS = 50
const MAX_DEPTH = 3

/** A tool's search terms, each with its weight. */
export interface ToolTerms {
  weights: ReadonlyMap<string, number>
  /** How many terms say what the tool is for: one of few counts more than one of many. */
  size: number
}

/** A schema that cannot be read is left out. */
export function termsOfTool({
  tool,
  name,
  server,
}: {
  tool: Tool
  name: string
  server?: string | undefined
}): ToolTerms {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of splitWords(text.slice(0, MAX_CHARACTERS))) {
      const term = termOf(word)
      if (weight > (weights.get(term) ?? 0)) weights.set(term, weight)
    }
  }
  const description = (tool.description ?? '').trim()
  const lead = leadOf(description)
  add(name, WEIGHTS.name)
  add(lead, WEIGHTS.lead)
  const { size } = weights
  add(tool.title ?? '', WEIGHTS.title)
  add(server ?? '', WEIGHTS.server)
  add(description.slice(lead.length), WEIGHTS.description)
  try {
    addSchema(jsonSchemaOf(tool), add)
  } catch {
    // Found by its name and description.
  }
  return { weights, size }
}

function leadOf(description: string): string {
  const start = description.slice(0, MAX_LEAD)
  const end = start.search(/[.!?](?:\s|$)|\n/)
  // Never cut a word.
  return end < 0
    ? start.slice(0, description.length > MAX_LEAD ? start.lastIndexOf(' ') + 1 : MAX_LEAD)
    : start.slice(0, end)
}

type Add = (text: string, weight: number) => void

function addSchema(schema: unknown, add: Add, state = { parameters: 0 }, depth = 0): void {
  if (!isRecord(schema) || depth > MAX_DEPTH) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    if (++state.parameters > MAX_PARAMETERS) return
    add(name, WEIGHTS.parameter)
    if (!isRecord(property)) continue
    const { description, title, enum: values } = property
    const texts = [title, description, ...(Array.isArray(values) ? values.slice(0, 20) : [])]
    for (const text of texts) if (typeof text === 'string') add(text, WEIGHTS.detail)
    addSchema(property, add, state, depth + 1)
    addSchema(property.items, add, state, depth + 1)
  }
}
