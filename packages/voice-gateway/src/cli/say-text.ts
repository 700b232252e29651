import { type AnswerFlags, answerOnce } from './answer-once.ts'
import type { VoiceContext } from './context.ts'
import { UsageError } from './exit-codes.ts'

/** `voice-gateway say "…"` */
export async function sayText(context: VoiceContext, text: string, flags: AnswerFlags): Promise<number> {
  if (text.trim() === '') throw new UsageError('There is nothing to say: voice-gateway say "what time is it"')
  return answerOnce(context, { text }, flags)
}
