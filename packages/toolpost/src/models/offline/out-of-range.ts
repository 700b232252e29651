import { type JsonSchema, jsonSchemaOf } from '../../schema/json-schema.ts'
import { type Matched, type Meaning, type PlannedCall, saying } from './meaning.ts'
import { propertyOf } from './slots.ts'

/** If the schema sets no limits, these apply. */
const USUAL: Readonly<Record<string, JsonSchema>> = { temperature: { minimum: 0, maximum: 100 } }
const UNITS: Readonly<Record<string, string>> = { level: ' percent', temperature: ' degrees' }

/** The reply to a number that a tool does not accept; `undefined` if it accepts all of them. */
export function outOfRange({ tool, args }: PlannedCall, matched: Matched): Meaning | undefined {
  const schema = jsonSchemaOf(tool)
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== 'number') continue
    const { minimum, maximum } = { ...USUAL[name], ...propertyOf(schema, name) }
    if (typeof minimum !== 'number' || typeof maximum !== 'number') continue
    if (value >= minimum && value <= maximum) continue
    const range = `between ${minimum} and ${maximum}${UNITS[name] ?? ''}`
    return saying('talk', `That has to be ${range}, so I did nothing.`, matched)
  }
  return undefined
}
