import type { JsonSchema, OpenQuestion } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'

/** The form for a question, and the fields left out because they look like secrets. */
export interface QuestionForm {
  schema: JsonSchema
  secrets: string[]
  /** A secret is required: the question can only be declined. */
  isUnanswerable: boolean
}

/** The form for a question, with choices as forms here show them. Undefined if there is nothing to fill in. */
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

/** Choices with titles, and multiple choices as checkboxes. */
function shownField(field: unknown): unknown {
  if (!isRecord(field)) return field
  if (field.type === 'array' && isRecord(field.items) && hasChoices(field.items))
    return { ...field, uniqueItems: true, items: titled(field.items) }
  return titled(field)
}

function hasChoices({ enum: values, oneOf, anyOf }: JsonSchema): boolean {
  return [values, oneOf, anyOf].some(Array.isArray)
}

/** `enumNames` is the legacy way to give titles. */
function titled({ enumNames, ...field }: JsonSchema): JsonSchema {
  const { enum: values, ...rest } = field
  if (!Array.isArray(values) || !Array.isArray(enumNames)) return field
  return {
    ...rest,
    oneOf: values.map((value, at) => ({ const: value, title: String(enumNames[at] ?? value) })),
  }
}

/** The host of a web address; undefined for any other. */
export function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? host : undefined
}
