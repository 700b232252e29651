import { type AnswerFlags, answerOnce } from './answer-once.ts'
import { UsageError } from './exit-codes.ts'
import type { VoiceSession } from './session.ts'

/** `voice-gateway say "…"` */
export async function sayText(session: VoiceSession, text: string, flags: AnswerFlags): Promise<number> {
  if (text.trim() === '') throw new UsageError('There is nothing to say: voice-gateway say "what time is it"')
  return answerOnce(session, { text }, flags)
}
