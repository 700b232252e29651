import type { ToolInfo } from 'toolpost/gateway'

/** Sentences that read better than a template with blanks. */
const QUESTIONS: Record<string, string> = {
  control_zwave_device: 'Turn on the living room light',
  list_zwave_devices: 'Which devices do I have?',
  datetime: 'What time is it in Tokyo?',
  math_eval: 'What is 12 * 7.5?',
  volume: 'Set the volume to 40',
  search: 'Search the web for {query}',
  search_documents: 'Search my notes for {query}',
  get_weather: 'What is the weather in Berlin?',
}
const MAX_SUGGESTIONS = 6

/** What the available tools can be asked: one sentence each, those without blanks first. */
export function suggestionsFor(tools: readonly ToolInfo[]): string[] {
  const sentences = tools.flatMap(({ name, sentences: own = [] }) => {
    const known = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined
    return known ?? own.find(one => !hasBlank(one)) ?? own[0] ?? []
  })
  const ordered = [...sentences.filter(one => !hasBlank(one)), ...sentences.filter(hasBlank)]
  return [...new Set(ordered)].slice(0, MAX_SUGGESTIONS)
}

const BLANK = /\{([^{}]{1,60})\}/

/** Whether something is left to fill in. */
export function hasBlank(sentence: string): boolean {
  return BLANK.test(sentence)
}

/** `Read the ‹device name›`. */
export function shownSuggestion(sentence: string): string {
  return sentence.replace(new RegExp(BLANK, 'g'), (_, name: string) => `‹${spoken(name)}›`)
}

/** The sentence to fill in, and where its first blank is. */
export function draftOf(sentence: string): { text: string; from: number; to: number } {
  const text = shownSuggestion(sentence)
  const from = text.indexOf('‹')
  return { text, from: Math.max(0, from), to: from < 0 ? text.length : text.indexOf('›') + 1 }
}

function spoken(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/_+/g, ' ')
    .toLowerCase()
}
