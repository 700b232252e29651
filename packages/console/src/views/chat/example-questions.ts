import type { ToolInfo } from '../../api/types.ts'

const QUESTIONS: [tool: string, question: string][] = [
  ['control_zwave_device', 'Turn on the living room light'],
  ['list_zwave_devices', 'Which devices are there?'],
  ['datetime', 'What time is it in Tokyo?'],
  ['math_eval', 'What is 12 * 7.5?'],
  ['volume', 'Set the volume to 40'],
  ['get_weather', 'What is the weather in Berlin?'],
]

/** Things to ask that the tools at hand can do. */
export function questionsFor(tools: readonly ToolInfo[]): string[] {
  return QUESTIONS.filter(([name]) => tools.some(tool => tool.name === name))
    .map(([, question]) => question)
    .slice(0, 4)
}
