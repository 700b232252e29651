import type { Answer, StopReason } from './ai-client.ts'

const REASONS: Record<Exclude<StopReason, 'answer'>, string> = {
  max_iterations: 'the model asked for too many rounds of calls',
  time_limit: 'it took too long',
  repeated_failure: 'the same call kept failing',
}

/** Why there is no real answer, in a few words; `undefined` if there is one. */
export function whyUnanswered({ text, results, iterations, stopReason }: Answer): string | undefined {
  if (stopReason !== 'answer') return REASONS[stopReason]
  if (text.trim() === '') return 'the model gave no answer'
  if (iterations === 0) return 'it was not understood'
  const [failure] = results.flatMap(result => (result.success ? [] : [result.error]))
  return failure !== undefined && results.every(result => !result.success) ? failure : undefined
}
