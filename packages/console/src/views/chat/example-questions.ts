import type { ToolInfo } from 'toolpost/gateway'

const QUESTIONS: [tool: string, question: string][] = [
  ['control_zwave_device', 'Turn on the living room light'],
  ['list_zwave_devices', 'Which devices do I have?'],
  ['datetime', 'What time is it in Tokyo?'],
  ['math_eval', 'What is 12 * 7.5?'],
  ['volume', 'Set the volume to 40'],
  ['get_weather', 'What is the weather in Berlin?'],
]

/** Example questions that the available tools can answer. */
export function questionsFor(tools: readonly ToolInfo[]): string[] {
  return QUESTIONS.filter(([name]) => tools.some(tool => tool.name === name))
    .map(([, question]) => question)
    .slice(0, 4)
}
