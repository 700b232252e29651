import type { OutputUnit } from '@cfworker/json-schema'
import { oneLine } from '../text/visible-text.ts'

const TEXTS: Record<string, string> = {
  required: 'is required',
  anyOf: 'matches none of the options',
  oneOf: 'must match exactly one of the options',
  not: 'has a value that is not allowed',
}

/** The validator's error, phrased to follow the field's name. */
export function problemText({ keyword, error }: OutputUnit): string {
  const text = TEXTS[keyword] ?? reworded(error)
  return oneLine(text, 300)
}

function reworded(error: string): string {
  const [, types] = /^Instance type "\w+" is invalid\. Expected "(.*)"\.$/.exec(error) ?? []
  if (types !== undefined) return `must be ${types.replaceAll('", "', ' or ')}`
  return error
    .replace(/^Instance does not match any of /, 'must be one of ')
    .replace(/^Instance does not match /, 'must be ')
    .replace(/^String does not match format "pattern:(.*)"\.$/s, 'must match $1')
    .replace(/^String does not match format "(.*)"\.$/, 'is not a valid $1')
    .replace(/\.$/, '')
}
