import type { CallRecord, JsonSchema, ToolInfo } from '../../api/types.ts'

/** What a person has filled in for a tool, and has not lost by looking at another one. */
export interface Draft {
  mode: 'form' | 'json'
  args: unknown
  /** In the JSON mode, as typed. */
  text: string
  deadline: string
}

const drafts = new Map<string, Draft>()

export function keepDraft(tool: string, draft: Draft): void {
  drafts.set(tool, draft)
}

/** The arguments of `call` where one is to be run again, else what was last filled in, else an empty form. */
export function firstDraft(tool: ToolInfo, call: CallRecord | undefined): Draft {
  const known = drafts.get(tool.name)
  if (call === undefined && known) return known
  const args = call?.args ?? {}
  const mode = formKind(tool.schema) === 'form' && isPlainObject(args) ? 'form' : 'json'
  return { mode, args, text: JSON.stringify(args, null, 2), deadline: '' }
}

/** Whether a form can be made of a schema: `none` where a tool takes no arguments, `json` where it takes any. */
export function formKind(schema: JsonSchema): 'form' | 'json' | 'none' {
  const { properties, additionalProperties } = schema
  const named = isPlainObject(properties) && Object.keys(properties).length > 0
  if (named || schema.$ref || schema.allOf || schema.anyOf || schema.oneOf) return 'form'
  if (isPlainObject(additionalProperties) || additionalProperties === true) return 'form'
  return additionalProperties === false ? 'none' : 'json'
}

export type Parsed = { ok: true; args: Record<string, unknown> } | { ok: false; problem: string }

/** Arguments as typed; an empty text is an empty object. */
export function parseArguments(text: string): Parsed {
  if (text.trim() === '') return { ok: true, args: {} }
  try {
    const args: unknown = JSON.parse(text)
    if (isPlainObject(args)) return { ok: true, args }
    return { ok: false, problem: 'The arguments are an object: { … }' }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The deadline as typed, in milliseconds; `undefined` where none or no positive number was given. */
export function deadlineMs(text: string): number | undefined {
  const ms = Number(text)
  return text.trim() !== '' && Number.isInteger(ms) && ms > 0 ? ms : undefined
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
