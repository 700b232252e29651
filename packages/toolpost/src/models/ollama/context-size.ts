/** Ollama's own default. */
const MIN_CONTEXT = 4_096
/** More needs memory that small machines lack; models.ollama.maxContext raises it. */
export const DEFAULT_MAX_CONTEXT = 32_768
/** Room for the answer and the thinking before it. */
const ANSWER_TOKENS = 1_024
/** English has about four characters per token, JSON and other languages fewer: better too much room than too little. */
const CHARS_PER_TOKEN = 3

export function estimateTokens(value: unknown): number {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  let others = 0
  // A character beyond Latin is often a token of its own.
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x24f) others++
  return Math.ceil((text.length - others) / CHARS_PER_TOKEN + others)
}

interface Wanted {
  /** Tools and history. */
  tokens: number
  /** The previous size: every change makes Ollama reload the model. */
  atLeast?: number | undefined
  /** The smaller of the configured limit and the model's own. */
  most: number
}

/** The context size for a request: the next power of two, capped at `most`. */
export function contextFor({ tokens, atLeast = MIN_CONTEXT, most }: Wanted): { size: number; fits: boolean } {
  const needed = tokens + ANSWER_TOKENS
  const power = 2 ** Math.ceil(Math.log2(Math.max(needed, MIN_CONTEXT)))
  const size = Math.min(Math.max(power, atLeast), most)
  return { size, fits: needed <= size }
}
