import { expect, it } from 'vitest'
import type { ToolResult } from '../../call/tool-result.ts'
import { phraseAnswer } from './phrase-answer.ts'

const base = { tool_name: 't', execution_time_ms: 1 }
const success = (result: unknown, text?: string): ToolResult => ({
  ...base,
  success: true,
  result,
  ...(text !== undefined && { text }),
})

it.each<[ToolResult, string]>([
  [success('lamp is on'), 'Lamp is on.'],
  [success({}, 'Switch One is on.'), 'Switch One is on.'],
  [success({ text: 'It is 12:00.', answer: 'x' }), 'It is 12:00.'],
  [success({ device: 'Kettle', confirmed: true, state: 'on' }), 'Kettle is on.'],
  [success({ answer: 'Paris' }), 'Paris.'],
  [success({ result: 10.2 }), 'The result is 10.2.'],
  [success({ result: 0.1 + 0.2 }), 'The result is 0.3.'],
  [
    success({ airTemperature: 22, wind_speed: null, rain: false }),
    'Air temperature: 22, wind speed: null, rain: no.',
  ],
  [success({ result: { a: [1] } }), 'The result is {"a":[1]}.'],
  [success(['a', 2]), 'A, 2.'],
  [success([]), 'There is nothing.'],
  [success(undefined), 'Done.'],
  [success(true), 'True.'],
  [success('line one\n  line two'), 'Line one line two.'],
  [
    { ...base, success: false, code: 'tool_error', error: 'There is no device called "x".' },
    'That did not work: There is no device called "x".',
  ],
  [
    { ...base, success: false, code: 'timeout', error: "Tool 't' timed out" },
    "That did not work: Tool 't' timed out.",
  ],
])('%j is said as "%s"', (result, text) => {
  expect(phraseAnswer(result)).toBe(text)
})

it('cuts a long answer where a sentence ends, or a word', () => {
  const sentences = phraseAnswer(success('This is it. '.repeat(50)))
  expect(sentences.length).toBeLessThanOrEqual(300)
  expect(sentences).toMatch(/it\.$/)
  const words = phraseAnswer(success('word '.repeat(100)))
  expect(words).toMatch(/ word…$/)
})

it('says nothing of Markdown', () => {
  expect(phraseAnswer(success('Guests use **Casa-Guests** and `wifi`'))).toBe(
    'Guests use Casa-Guests and wifi.',
  )
})
