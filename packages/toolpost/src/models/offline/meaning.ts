import type { ToolResult } from '../../call/tool-result.ts'
import type { Tool } from '../../tools/tool.ts'

export interface PlannedCall {
  tool: Tool
  args: Record<string, unknown>
}

/** Makes calls in parallel; resolves to their results in the same order. */
export type MakeCalls = (calls: readonly PlannedCall[]) => Promise<readonly ToolResult[]>

/** What a request means. */
export interface Meaning {
  /**
   * `act`: calls that change something; `tell`: calls that only read; `ask`: asks what is meant; `talk`: answers without
   * a call.
   */
  readonly kind: 'act' | 'tell' | 'ask' | 'talk'
  /** Equal for requests with the same meaning. */
  readonly key: string
  /** The calls known in advance: all of them, or the first. */
  readonly calls: readonly PlannedCall[]
  /** 0 to 1: how much of the request is accounted for. */
  readonly score: number
  /** The most unknown words in one argument. */
  readonly longestFree: number
  readonly template: string
  /** For a complaint ("it's too dark in here"), the devices it is about. */
  readonly about?: readonly string[] | undefined
  /** Whether it is only a guess because nothing else fits. */
  readonly isGuess?: boolean | undefined
  /** Carries it out; resolves to the spoken answer. */
  run(makeCalls: MakeCalls): Promise<string>
}

/** The fields of a match that a meaning keeps. */
export type Matched = Pick<Meaning, 'score' | 'longestFree' | 'template'>

export const MATCHED: Matched = { score: 1, longestFree: 0, template: '' }

/** A meaning that only says something. */
export function saying(kind: 'ask' | 'talk', text: string, matched: Matched = MATCHED): Meaning {
  return { ...matched, kind, key: `${kind}: ${text}`, calls: [], run: async () => text }
}

/** A text that is equal for equal calls. */
export function keyOf(calls: readonly PlannedCall[]): string {
  return calls.map(({ tool, args }) => `${tool.name}${JSON.stringify(sorted(args))}`).join(' + ')
}

function sorted(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether it does something, or would once it is clear what. */
export function wouldAct(meaning: Meaning | undefined): boolean {
  return meaning?.kind === 'act' || meaning?.kind === 'ask'
}

/** Whether a call may change something. Reading the volume does not, though its tool could. */
export function mayChange({ tool, args }: PlannedCall): boolean {
  return !tool.readOnly && args.action !== 'get'
}

/** Words as a list: "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[], joint = 'and'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`
}
