import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../call/tool-result.ts'
import type { Answer } from './ai-client.ts'
import { whyUnanswered } from './why-unanswered.ts'

const good: ToolResult = { success: true, result: 1, tool_name: 'a', execution_time_ms: 1 }
const bad: ToolResult = {
  success: false,
  error: 'it is broken',
  code: 'tool_error',
  tool_name: 'a',
  execution_time_ms: 1,
}

const cases: [string, Partial<Answer>, string | undefined][] = [
  ['an answer', {}, undefined],
  ['an answer with a call that worked', { results: [bad, good] }, undefined],
  ['calls that all failed', { results: [bad, bad] }, 'it is broken'],
  ['no words', { text: ' \n' }, 'the model gave no answer'],
  ['a question that no sentence fits', { iterations: 0 }, 'it was not understood'],
  ['no time', { stopReason: 'time_limit' }, 'it took too long'],
]

describe('whyUnanswered', () => {
  it.each(cases)('says what %s is worth', (_, answer, why) => {
    const whole: Answer = { text: 'yes', messages: [], results: [], iterations: 1, stopReason: 'answer' }
    expect(whyUnanswered({ ...whole, ...answer })).toBe(why)
  })
})
