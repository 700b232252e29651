import type { JsonSchema } from 'toolpost/gateway'
import { isRecord } from '../api/guards.ts'

/** Hints for the form, structured like the schema. */
export type FormLayout = { [key: string]: unknown }

const MAX_DEPTH = 6
const MAX_TICKED = 20
const LONG_TEXT = /(text|content|body|message|prompt|code|script|markdown|sql)$/i

/**
 * An optional boolean gets three choices, since a checkbox can only say yes or no; text that tends to be long gets
 * a larger field.
 */
export function formLayout(schema: JsonSchema, depth = 0): FormLayout {
  if (depth > MAX_DEPTH) return {}
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const layout: FormLayout = {}
  for (const [name, property] of Object.entries(properties))
    if (isRecord(property))
      layout[name] = fieldLayout(property, { name, required: required.includes(name), depth })
  if (isRecord(schema.items)) layout.items = formLayout(schema.items, depth + 1)
  return layout
}

interface Field {
  name: string
  required: boolean
  depth: number
}

function fieldLayout(property: JsonSchema, { name, required, depth }: Field): FormLayout {
  if (property.type === 'boolean' && !property.oneOf)
    return required || typeof property.default === 'boolean' ? {} : { 'ui:widget': 'select' }
  if (property.type === 'array' && property.uniqueItems === true && hasFewChoices(property.items))
    return { 'ui:widget': 'checkboxes' }
  if (property.type === 'string' && isLongText(name, property))
    return { 'ui:widget': 'textarea', 'ui:options': { rows: 4 } }
  return formLayout(property, depth + 1)
}

/** Few enough for checkboxes. */
function hasFewChoices(items: unknown): boolean {
  if (!isRecord(items)) return false
  const choices = [items.enum, items.oneOf, items.anyOf].find(Array.isArray)
  return choices !== undefined && choices.length <= MAX_TICKED
}

function isLongText(name: string, { enum: choices, format, pattern, maxLength }: JsonSchema): boolean {
  if (choices !== undefined || format !== undefined || pattern !== undefined) return false
  return LONG_TEXT.test(name) && !(typeof maxLength === 'number' && maxLength <= 100)
}
