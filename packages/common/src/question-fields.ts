export interface Choice {
  value: unknown
  title: string
}

/** A form field, as presented to a person. */
export interface QuestionField {
  name: string
  title: string
  description: string | undefined
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'choices'
  choices: readonly Choice[]
  isRequired: boolean
  default: unknown
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The fields of an MCP elicitation schema, which is flat: text, number, boolean, or one or more of several choices, in
 * any notation the protocol has ever had. `undefined` if a field is anything else.
 */
export function fieldsOf(schema: unknown): QuestionField[] | undefined {
  const { properties, required } = isSchema(schema) ? schema : {}
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(isSchema(properties) ? properties : {}).map(([name, field]) =>
    fieldOf(name, field, needed.includes(name)),
  )
  return fields.every(field => field !== undefined) ? fields : undefined
}

/** Set if the form is a yes-or-no question: it has no fields, or a single boolean one, which is then named. */
export function yesNoField(schema: unknown): { field?: string } | undefined {
  const fields = fieldsOf(schema)
  if (fields?.length === 0) return {}
  const [field, more] = fields ?? []
  return field?.kind === 'boolean' && !more ? { field: field.name } : undefined
}

function fieldOf(name: string, schema: unknown, isRequired: boolean): QuestionField | undefined {
  if (!isSchema(schema)) return undefined
  const single = choicesIn(schema)
  const several = schema.type === 'array' && isSchema(schema.items) ? choicesIn(schema.items) : undefined
  const kind = single ? 'choice' : several ? 'choices' : KINDS[String(schema.type)]
  if (!kind) return undefined
  return {
    name,
    title: textIn(schema.title) ?? name,
    description: textIn(schema.description),
    kind,
    choices: single ?? several ?? [],
    isRequired,
    default: schema.default,
  }
}

const KINDS: Readonly<Record<string, QuestionField['kind'] | undefined>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Schema): Choice[] | undefined {
  if (Array.isArray(values)) {
    const titles: unknown[] = Array.isArray(enumNames) ? enumNames : []
    return values.map((value, at) => ({ value, title: textIn(titles[at]) ?? String(value) }))
  }
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled) || !titled.every(each => isSchema(each) && 'const' in each)) return undefined
  return titled.map(each => ({ value: each.const, title: textIn(each.title) ?? String(each.const) }))
}

/** Parses what was typed for a field, or says what is wrong with it. */
export function typedValue(field: QuestionField, typed: string): { value: unknown } | { problem: string } {
  const text = typed.trim()
  if (field.kind === 'text') return { value: typed }
  if (field.kind === 'choice') return chosen(field, text)
  if (field.kind === 'choices') return chosenOf(field, text)
  if (field.kind === 'number')
    return Number.isFinite(Number(text)) ? { value: Number(text) } : { problem: 'that is not a number' }
  if (/^(?:y|yes|true|1)$/i.test(text)) return { value: true }
  return /^(?:n|no|false|0)$/i.test(text) ? { value: false } : { problem: 'please answer yes or no' }
}

/** Matches a value, a title, or a position in the list. */
function chosen({ choices }: QuestionField, text: string): { value: unknown } | { problem: string } {
  const lower = text.toLowerCase()
  const found =
    choices.find(({ value }) => String(value) === text) ??
    choices.find(({ value, title }) => [String(value), title].some(each => each.toLowerCase() === lower)) ??
    (/^\d{1,6}$/.test(text) ? choices[Number(text) - 1] : undefined)
  return found ? { value: found.value } : { problem: `choose one of 1 to ${choices.length}` }
}

function chosenOf(field: QuestionField, text: string): { value: unknown } | { problem: string } {
  const all = text.split(',').map(part => chosen(field, part.trim()))
  const wrong = all.find(each => 'problem' in each)
  if (wrong) return { problem: `choose any of 1 to ${field.choices.length}, separated by commas` }
  return { value: [...new Set(all.map(each => (each as { value: unknown }).value))] }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
