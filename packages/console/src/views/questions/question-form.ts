import type { JsonSchema, OpenQuestion } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'

/** What is asked in a form, and what is not asked because it looks like a secret. */
export interface QuestionForm {
  schema: JsonSchema
  secrets: string[]
  /** A secret is required: the question can only be declined. */
  isUnanswerable: boolean
}

/** The form of a question, in the way that forms here show choices. Nothing if there is nothing to fill in. */
export function questionForm({ schema, secretFields = [] }: OpenQuestion): QuestionForm | undefined {
  const properties = isRecord(schema?.properties) ? schema.properties : {}
  if (!schema || Object.keys(properties).length === 0) return undefined
  const required = Array.isArray(schema.required) ? schema.required : []
  const asked = Object.entries(properties).filter(([name]) => !secretFields.includes(name))
  const secrets = Object.keys(properties).filter(name => secretFields.includes(name))
  return {
    schema: {
      ...schema,
      properties: Object.fromEntries(asked.map(([name, field]) => [name, shownField(field)])),
      required: required.filter(name => !secrets.includes(name)),
    },
    secrets,
    isUnanswerable: secrets.some(name => required.includes(name)),
  }
}

/** Choices with titles, and several of them as boxes to tick. */
function shownField(field: unknown): unknown {
  if (!isRecord(field)) return field
  if (field.type === 'array' && isRecord(field.items) && hasChoices(field.items))
    return { ...field, uniqueItems: true, items: titled(field.items) }
  return titled(field)
}

function hasChoices({ enum: values, oneOf, anyOf }: JsonSchema): boolean {
  return [values, oneOf, anyOf].some(Array.isArray)
}

/** `enumNames` is how titles were written before. */
function titled({ enumNames, ...field }: JsonSchema): JsonSchema {
  const { enum: values, ...rest } = field
  if (!Array.isArray(values) || !Array.isArray(enumNames)) return field
  return {
    ...rest,
    oneOf: values.map((value, at) => ({ const: value, title: String(enumNames[at] ?? value) })),
  }
}

/** The host of an address that a page can be opened at. */
export function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? host : undefined
}
