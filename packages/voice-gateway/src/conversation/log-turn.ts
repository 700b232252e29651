import type { Logger } from 'toolpost'
import type { ResponseMessage } from '../bus/voice-bus.ts'
import type { HeardSpeech } from '../listening/listening.ts'

/** One record per turn, with the time of each stage. */
export function logTurn(
  logger: Logger,
  response: ResponseMessage,
  { speakMs, heard }: { speakMs: number; heard: Partial<HeardSpeech> },
): void {
  const { id, conversation, outcome, question, error, calls, durations } = response
  const { waitMs, transcribeMs, answerMs, totalMs } = durations
  const fields = {
    id,
    conversation,
    question,
    free_text: heard.free_text,
    decision: heard.decision,
    margin: heard.margin,
    calls: calls.map(({ name }) => name),
    wait_ms: waitMs,
    transcribe_ms: transcribeMs,
    answer_ms: answerMs,
    speak_ms: Math.round(speakMs),
    total_ms: totalMs,
    error,
  }
  if (outcome === 'failed') logger.warn(fields, 'Failed to answer an utterance')
  else logger.info(fields, outcome === 'answered' ? 'Answered' : 'Dropped')
}
