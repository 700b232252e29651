import type { JsonSchema, ToolInfo } from 'toolpost/gateway'
import { create } from 'zustand'
import { createJSONStorage, persist } from 'zustand/middleware'
import { type CallOutcome, callTool } from '../../api/gateway.ts'
import { isRecord, messageOf } from '../../api/http.ts'
import { formKind } from '../../form/form-schema.ts'

/** What was filled in for a tool; survives switching tools and reloads. */
export interface Draft {
  mode: 'form' | 'json'
  args: unknown
  /** In JSON mode, as typed. */
  text: string
  /** The time limit in seconds, as typed. */
  limit: string
}

/** Kept for this tab only: arguments may be private. */
export const useDrafts = create<{ drafts: Record<string, Draft> }>()(
  persist(() => ({ drafts: {} as Record<string, Draft> }), {
    name: 'toolpost.drafts',
    storage: createJSONStorage(() => sessionStorage),
  }),
)

export function setDraft(tool: string, draft: Draft): void {
  useDrafts.setState(({ drafts }) => ({ drafts: { ...drafts, [tool]: draft } }))
}

/** A draft with these arguments, as a form if possible. */
export function draftOf(schema: JsonSchema, args: unknown): Draft {
  const mode = formKind(schema) === 'form' && isRecord(args) ? 'form' : 'json'
  return { mode, args, text: argumentsText(args), limit: '' }
}

export function argumentsText(args: unknown): string {
  try {
    return JSON.stringify(args, null, 2)
  } catch {
    return '{}'
  }
}

/** The arguments of a draft, or why there are none. */
export function argumentsOf(draft: Draft): { args: unknown } | { problem: string } {
  if (draft.mode === 'form') return { args: draft.args }
  if (draft.text.trim() === '') return { args: {} }
  try {
    const args: unknown = JSON.parse(draft.text)
    return isRecord(args) ? { args } : { problem: 'The arguments must be an object: { … }' }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Example arguments from the schema: complete ones, or one made of its properties' examples. */
export function exampleOf({ schema }: ToolInfo): Record<string, unknown> | undefined {
  const whole = Array.isArray(schema.examples) ? schema.examples.find(isRecord) : undefined
  if (whole) return whole
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(isRecord(schema.properties) ? schema.properties : {}))
    if (isRecord(property) && Array.isArray(property.examples)) made[name] = property.examples[0]
  const required = Array.isArray(schema.required) ? schema.required : []
  const isComplete = required.every(name => String(name) in made)
  return isComplete && Object.keys(made).length > 0 ? made : undefined
}

/** A call made from this page. */
export interface ToolRun {
  id: string
  startedAt: number
  cancel: () => void
  outcome?: CallOutcome
}

/** The last call of each tool; it goes on while another view is open. */
export const useRuns = create<Record<string, ToolRun>>()(() => ({}))

export async function runTool(tool: string, args: unknown, timeoutMs?: number): Promise<void> {
  const controller = new AbortController()
  const id = crypto.randomUUID?.() ?? String(Math.random()).slice(2)
  const run: ToolRun = { id, startedAt: Date.now(), cancel: () => controller.abort() }
  useRuns.setState({ [tool]: run })
  const outcome = await callTool({ id, tool, args, timeoutMs, signal: controller.signal })
  if (useRuns.getState()[tool]?.id === id) useRuns.setState({ [tool]: { ...run, outcome } })
}
