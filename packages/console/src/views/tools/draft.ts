import type { CallRecord, JsonSchema, ToolInfo } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'
import { messageOf } from '../../text/message-of.ts'

/** What was filled in for a tool; survives switching tools and reloads. */
export interface Draft {
  mode: 'form' | 'json'
  args: unknown
  /** In JSON mode, as typed. */
  text: string
  deadline: string
}

const drafts = new Map<string, Draft>()
/** Kept for this tab only: arguments may be private. */
const KEY = 'toolpost.draft.'
const MAX_KEPT = 100_000

export function keepDraft(tool: string, draft: Draft): void {
  drafts.set(tool, draft)
  try {
    const text = JSON.stringify(draft)
    if (text.length <= MAX_KEPT) globalThis.sessionStorage?.setItem(KEY + tool, text)
  } catch {
    // No room, or nested too deeply: it lasts as long as the page.
  }
}

function keptDraft(tool: string): Draft | undefined {
  const known = drafts.get(tool)
  if (known) return known
  try {
    const kept: unknown = JSON.parse(globalThis.sessionStorage?.getItem(KEY + tool) ?? 'null')
    return isDraft(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

function isDraft(value: unknown): value is Draft {
  if (!isRecord(value) || typeof value.text !== 'string' || typeof value.deadline !== 'string') return false
  return value.mode === 'json' || (value.mode === 'form' && isRecord(value.args))
}

/** The arguments of `call` if it is being run again, else what was last filled in, else an empty form. */
export function firstDraft(tool: ToolInfo, call: CallRecord | undefined): Draft {
  const known = keptDraft(tool.name)
  if (call === undefined && known) return known
  return draftOf(tool, call?.args ?? {})
}

/** A draft with these arguments, as a form if possible. */
export function draftOf({ schema }: ToolInfo, args: unknown): Draft {
  const mode = formKind(schema) === 'form' && isRecord(args) ? 'form' : 'json'
  return { mode, args, text: argumentsText(args), deadline: '' }
}

/** The editor that a schema needs: `none` if the tool takes no arguments, `json` if it accepts any. */
export function formKind(schema: JsonSchema): 'form' | 'json' | 'none' {
  const { properties, additionalProperties } = schema
  const named = isRecord(properties) && Object.keys(properties).length > 0
  if (named || schema.$ref || schema.allOf || schema.anyOf || schema.oneOf) return 'form'
  if (isRecord(additionalProperties) || additionalProperties === true) return 'form'
  // An empty list of parameters means the same as a closed one.
  return additionalProperties === false || isRecord(properties) ? 'none' : 'json'
}

/** Arguments for editing; empty if nested too deeply for JSON. */
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
    return { ok: false, problem: messageOf(error) }
  }
}

/** The arguments of a draft; empty if they are not valid JSON. */
export function argumentsOf(draft: Draft): unknown {
  if (draft.mode === 'form') return draft.args
  const parsed = parseArguments(draft.text)
  return parsed.ok ? parsed.args : {}
}

/** The deadline as typed, in milliseconds; `undefined` unless it is a positive whole number. */
export function deadlineMs(text: string): number | undefined {
  const ms = Number(text)
  return text.trim() !== '' && Number.isInteger(ms) && ms > 0 ? ms : undefined
}
