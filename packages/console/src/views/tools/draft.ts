import type { CallRecord, JsonSchema, ToolInfo } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'

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

/** The arguments of `call` if one is to be run again, else what was last filled in, else an empty form. */
export function firstDraft(tool: ToolInfo, call: CallRecord | undefined): Draft {
  const known = drafts.get(tool.name)
  if (call === undefined && known) return known
  const args = call?.args ?? {}
  const mode = formKind(tool.schema) === 'form' && isRecord(args) ? 'form' : 'json'
  return { mode, args, text: argumentsText(args), deadline: '' }
}

/** What a schema calls for: `none` if the tool takes no arguments, `json` if it takes any. */
export function formKind(schema: JsonSchema): 'form' | 'json' | 'none' {
  const { properties, additionalProperties } = schema
  const named = isRecord(properties) && Object.keys(properties).length > 0
  if (named || schema.$ref || schema.allOf || schema.anyOf || schema.oneOf) return 'form'
  if (isRecord(additionalProperties) || additionalProperties === true) return 'form'
  return additionalProperties === false ? 'none' : 'json'
}

/** Arguments to be edited; empty if they are nested too deeply for JSON. */
export function argumentsText(args: unknown): string {
  try {
    return JSON.stringify(args, null, 2)
  } catch {
    return '{}'
  }
}

export type Parsed = { ok: true; args: Record<string, unknown> } | { ok: false; problem: string }

/** Arguments as typed; an empty text is an empty object. */
export function parseArguments(text: string): Parsed {
  if (text.trim() === '') return { ok: true, args: {} }
  try {
    const args: unknown = JSON.parse(text)
    if (isRecord(args)) return { ok: true, args }
    return { ok: false, problem: 'The arguments must be an object: { … }' }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The deadline as typed, in milliseconds; `undefined` unless it is a positive whole number. */
export function deadlineMs(text: string): number | undefined {
  const ms = Number(text)
  return text.trim() !== '' && Number.isInteger(ms) && ms > 0 ? ms : undefined
}
