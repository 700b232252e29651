import type { ToolInfo } from 'toolpost/gateway'

/** What well-known tools can be asked without anything else being set up, in this order. */
const QUESTIONS: [tool: string, question: string][] = [
  ['control_zwave_device', 'Dim the living room light to thirty percent'],
  ['list_zwave_devices', 'Which devices do I have?'],
  ['datetime', 'What time is it in Tokyo?'],
  ['math_eval', 'What is 12 * 7.5?'],
]
const MAX_SUGGESTIONS = 6

/**
 * Questions that work here: of other tools only sentences without blanks, and only of tools that read, because nobody
 * knows whether a mixer, a key or a device is there.
 */
export function suggestionsFor(tools: readonly ToolInfo[]): string[] {
  const names = new Set(tools.map(({ name }) => name))
  const known = QUESTIONS.filter(([tool]) => names.has(tool)).map(([, question]) => question)
  const others = tools
    .filter(tool => tool.readOnly && !QUESTIONS.some(([name]) => name === tool.name))
    .flatMap(({ sentences }) => sentences?.find(one => !/[{‹]/.test(one)) ?? [])
  return [...new Set([...known, ...others])].slice(0, MAX_SUGGESTIONS)
}
