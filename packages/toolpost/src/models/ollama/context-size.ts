/** What Ollama itself takes for granted. */
const MIN_CONTEXT = 4_096
/** More costs memory that small machines do not have; models.ollama.maxContext allows it. */
export const DEFAULT_MAX_CONTEXT = 32_768
/** Room for the answer, and for the thoughts before it. */
const ANSWER_TOKENS = 1_024
/** English has about four characters a token, JSON and other languages fewer: better too much room than too little. */
const CHARS_PER_TOKEN = 3

export function estimateTokens(value: unknown): number {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  let others = 0
  // A character beyond Latin is often a token of its own.
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x24f) others++
  return Math.ceil((text.length - others) / CHARS_PER_TOKEN + others)
}

interface Wanted {
  /** Of tools and history, in tokens. */
  tokens: number
  /** What was chosen before: every change makes Ollama load the model again. */
  atLeast?: number | undefined
  /** The configuration's, and the model's own. */
  most: number
}

/** The context that a request needs: the next power of two, and no more than there may be. */
export function contextFor({ tokens, atLeast = MIN_CONTEXT, most }: Wanted): { size: number; fits: boolean } {
  const needed = tokens + ANSWER_TOKENS
  const power = 2 ** Math.ceil(Math.log2(Math.max(needed, MIN_CONTEXT)))
  const size = Math.min(Math.max(power, atLeast), most)
  return { size, fits: needed <= size }
}
