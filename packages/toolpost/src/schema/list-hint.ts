import type { ErrorObject } from 'ajv'
import type { JsonSchema } from './json-schema.ts'

const MAX_HINT_CHARS = 200
const BRACKETS = /^(?:\[(.*)\]|\((.*)\)|\{(.*)\})$/s
const SEPARATORS = /[,;|\n，；、]/
const BULLET = /^(?:[-*•]|\d+[.)])\s+/
const QUOTED = /^(["'`])(.*)\1$/s
const NUMBER = /^-?\d{1,15}(?:\.\d+)?$/

/** Suggests an array for a delimited string. Only a hint: we do not guess where to split. */
export function listHint({ params, data, parentSchema }: ErrorObject): string {
  const types: unknown[] = [params.type].flat()
  if (!types.includes('array') || typeof data !== 'string' || data.length > MAX_HINT_CHARS) return ''
  const entries = entriesIn(data.trim())
  if (entries.length < 2 && !data.trim().startsWith('[')) return ''
  const shown =
    takesNumbers(parentSchema) && entries.every(entry => NUMBER.test(entry)) ? entries.map(Number) : entries
  return shown.length > 0 ? ` (if it is a list, write ${JSON.stringify(shown)})` : ''
}

/** Strips list notation that models use: foreign brackets, bullets, quotes. */
function entriesIn(text: string): string[] {
  const [, ...inner] = BRACKETS.exec(text) ?? []
  const body = inner.find(part => part !== undefined) ?? text
  return body
    .split(SEPARATORS)
    .map(entry => entry.trim().replace(BULLET, '').replace(QUOTED, '$2'))
    .filter(entry => entry !== '')
}

function takesNumbers(schema: JsonSchema | undefined): boolean {
  const { type } = (schema?.items ?? {}) as JsonSchema
  return [type].flat().some(one => one === 'number' || one === 'integer')
}
