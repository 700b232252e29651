import type { ToolResult } from '../../call/tool-result.ts'
import type { Tool } from '../../tools/tool.ts'

export interface PlannedCall {
  tool: Tool
  args: Record<string, unknown>
}

/** Makes calls side by side; gives their results in the same order. */
export type MakeCalls = (calls: readonly PlannedCall[]) => Promise<readonly ToolResult[]>

/** What a request means. */
export interface Meaning {
  /**
   * `act`: calls that change something; `tell`: calls that only read; `ask`: it has to be asked what is meant; `talk`: it is
   * answered without any call.
   */
  readonly kind: 'act' | 'tell' | 'ask' | 'talk'
  /** The same for requests that mean the same. */
  readonly key: string
  /** The calls that are known before anything is called: all, or the first ones. */
  readonly calls: readonly PlannedCall[]
  /** 0 to 1: how much of the request is accounted for. */
  readonly score: number
  /** The most words that one argument took of which nothing is known. */
  readonly longestFree: number
  readonly template: string
  /** Whether it is only what is left if nothing else fits. */
  readonly isGuess?: boolean | undefined
  /** Carries it out; gives what to say. */
  run(makeCalls: MakeCalls): Promise<string>
}

/** What was matched, as a meaning takes it over. */
export type Matched = Pick<Meaning, 'score' | 'longestFree' | 'template'>

export const MATCHED: Matched = { score: 1, longestFree: 0, template: '' }

/** It is only said. */
export function saying(kind: 'ask' | 'talk', text: string, matched: Matched = MATCHED): Meaning {
  return { ...matched, kind, key: `${kind}: ${text}`, calls: [], run: async () => text }
}

/** Calls as a text that is the same for the same calls. */
export function keyOf(calls: readonly PlannedCall[]): string {
  return calls.map(({ tool, args }) => `${tool.name}${JSON.stringify(sorted(args))}`).join(' + ')
}

function sorted(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether a call may change something. Reading the volume is a call of a tool that could. */
export function mayChange({ tool, args }: PlannedCall): boolean {
  return !tool.readOnly && args.action !== 'get'
}

/** Words as a list: "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[], joint = 'and'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`
}
