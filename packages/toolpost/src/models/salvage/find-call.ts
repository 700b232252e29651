import { isAnnouncement } from './announcement.ts'
import { callInCode, callsInJson, closingAt, type WrittenCall } from './call-text.ts'

/** A call found in a model's text. */
export interface FoundCall extends WrittenCall {
  format: string
  /** What was said before it. */
  lead: string
  /** As it was written. */
  text: string
}

/** Longer texts are not searched. */
export const MAX_SALVAGE_CHARS = 64_000

type Reader = (body: string) => Promise<WrittenCall[] | undefined>

interface Format {
  readonly name: string
  readonly opening: string
  readonly closing?: string
  readonly read: Reader
}

/** Formats with an explicit call marker. */
const MARKED: readonly Format[] = [
  { name: 'tool_call', opening: '<tool_call>', closing: '</tool_call>', read: eitherForm },
  { name: 'function', opening: '<function=', closing: '</function>', read: functionTag },
  { name: 'python_tag', opening: '<|python_tag|>', read: eitherForm },
  { name: 'mistral', opening: '[TOOL_CALLS]', read: mistral },
]
/** What may follow a call: end tokens that leaked into the text. */
const ENDS = ['<|eom_id|>', '<|eot_id|>', '<|im_end|>', '<|end|>', '</s>', '<end_of_turn>', '[/TOOL_CALLS]']
const FENCE = '```'
const FENCE_WORDS = new Set([
  '',
  'json',
  'json5',
  'tool_call',
  'tool_calls',
  'tool_code',
  'tool',
  'python',
  'xml',
])

/**
 * The one call a text consists of, apart from words that announce it. `undefined` if there is none, more than one, or
 * any doubt that it is meant: a model may be explaining or quoting a call.
 */
export async function findCall(given: string): Promise<FoundCall | undefined> {
  if (given.length > MAX_SALVAGE_CHARS) return undefined
  const text = withoutEnds(given.trim())
  const fenced = fenceBody(text)
  if (fenced !== undefined) return found('fence', '', fenced, (await callsIn(fenced)) ?? [])
  const start = startOfCall(text)
  if (start === undefined) return undefined
  const [lead, body] = [text.slice(0, start), text.slice(start)]
  if (!isAnnouncement(lead)) return undefined
  const format = MARKED.find(({ opening }) => body.startsWith(opening))
  return found(format?.name ?? 'bare', lead, body, (await callsIn(body)) ?? [])
}

/** The call at the very end of a model's thinking. It thinks aloud, so only a marked one counts. */
export async function findThoughtCall(given: string): Promise<FoundCall | undefined> {
  const text = withoutEnds(given.slice(-MAX_SALVAGE_CHARS).trim())
  const start = Math.max(...MARKED.map(({ opening }) => lastAtLineStart(text, opening)))
  if (start < 0) return undefined
  const [before, body] = [text.slice(0, start), text.slice(start)]
  // With another marker before it, the model has not made up its mind.
  if (MARKED.some(({ opening }) => before.includes(opening)) || before.includes(FENCE)) return undefined
  const last = lastSentence(before)
  if (!isAnnouncement(last) && !isDecision(last)) return undefined
  return found('thinking', before, body, (await callsIn(body)) ?? [])
}

/** Several different calls do not count: it is unclear which one is meant. */
function found(
  format: string,
  lead: string,
  text: string,
  calls: readonly WrittenCall[],
): FoundCall | undefined {
  const [first] = calls
  if (!first || new Set(calls.map(call => JSON.stringify(call))).size > 1) return undefined
  return { ...first, format, lead: lead.trim(), text }
}

/** The calls in a text that consists of nothing else. */
async function callsIn(text: string): Promise<WrittenCall[] | undefined> {
  const body = text.trim()
  const format = MARKED.find(({ opening }) => body.startsWith(opening))
  if (!format) return eitherForm(body)
  if (format.closing === undefined) return format.read(body.slice(format.opening.length))
  const calls: WrittenCall[] = []
  let rest = body
  while (rest !== '') {
    const end = rest.indexOf(format.closing)
    if (!rest.startsWith(format.opening) || end < 0 || calls.length > 100) return undefined
    const read = await format.read(rest.slice(format.opening.length, end))
    if (!read) return undefined
    calls.push(...read)
    rest = rest.slice(end + format.closing.length).trimStart()
  }
  return calls
}

async function eitherForm(body: string): Promise<WrittenCall[] | undefined> {
  const json = await callsInJson(body)
  if (json) return json
  if (body.trim().startsWith('<function=')) return callsIn(body)
  const code = await callInCode(body)
  return code && [code]
}

/** `[TOOL_CALLS] [{…}]`, `[TOOL_CALLS]name{…}`, `[TOOL_CALLS]name[ARGS]{…}` */
async function mistral(text: string): Promise<WrittenCall[] | undefined> {
  const body = text.trim()
  const open = body.indexOf('{')
  if (body.startsWith('[') || open <= 0) return callsInJson(body)
  const name = body.slice(0, open).replace('[ARGS]', '').trim()
  if (closingAt(body, open) !== body.length - 1) return undefined
  return callsInJson(`{"name": ${JSON.stringify(name)}, "arguments": ${body.slice(open)}}`)
}

/** `name>{…}` or `name><parameter=key>value</parameter>…`, the text between `<function=` and `</function>`. */
async function functionTag(text: string): Promise<WrittenCall[] | undefined> {
  const end = text.indexOf('>')
  const name = text.slice(0, end).trim()
  const body = text.slice(end + 1).trim()
  if (end <= 0) return undefined
  if (!body.startsWith('<parameter='))
    return callsInJson(`{"name": ${JSON.stringify(name)}, "arguments": ${body === '' ? '{}' : body}}`)
  const args: [string, unknown][] = []
  for (const part of body.split('<parameter=').slice(1)) {
    const [head, tail] = [part.indexOf('>'), part.lastIndexOf('</parameter>')]
    if (head <= 0 || tail < head || part.slice(tail + '</parameter>'.length).trim() !== '') return undefined
    args.push([part.slice(0, head).trim(), part.slice(head + 1, tail).trim()])
  }
  return [{ name, args: Object.fromEntries(args) }]
}

/** Where the call begins: at a marker or JSON at the start of a line, or at the last line if it ends like code. */
function startOfCall(text: string): number | undefined {
  const marks = MARKED.map(({ opening }) => firstAtLineStart(text, opening)).filter(at => at >= 0)
  if (marks.length > 0) return Math.min(...marks)
  if (/^[{[]/.test(text)) return 0
  const json = ['\n{', '\n['].map(opening => text.indexOf(opening)).filter(at => at >= 0)
  if (json.length > 0) return Math.min(...json) + 1
  return text.endsWith(')') || text.endsWith(');') ? text.lastIndexOf('\n') + 1 : undefined
}

function firstAtLineStart(text: string, opening: string): number {
  if (text.startsWith(opening)) return 0
  const at = text.indexOf(`\n${opening}`)
  return at < 0 ? -1 : at + 1
}

function lastAtLineStart(text: string, opening: string): number {
  const at = text.lastIndexOf(`\n${opening}`)
  if (at >= 0) return at + 1
  return text.startsWith(opening) ? 0 : -1
}

/** The content of a code block, if the whole text is one. */
function fenceBody(text: string): string | undefined {
  const lineEnd = text.indexOf('\n')
  if (!text.startsWith(FENCE) || lineEnd < 0) return undefined
  const isWhole = text.indexOf(FENCE, lineEnd) === text.length - FENCE.length
  const word = text.slice(FENCE.length, lineEnd).trim().toLowerCase()
  return isWhole && FENCE_WORDS.has(word) ? text.slice(lineEnd + 1, -FENCE.length).trim() : undefined
}

function withoutEnds(text: string): string {
  let rest = text
  for (let end = ENDS.find(one => rest.endsWith(one)); end; end = ENDS.find(one => rest.endsWith(one)))
    rest = rest.slice(0, -end.length).trimEnd()
  return rest
}

function lastSentence(text: string): string {
  const body = text.trim()
  const ends = ['. ', '\n', '! ', '? '].map(end => body.slice(0, -1).lastIndexOf(end))
  return body.slice(Math.max(...ends) + 1).trim()
}

const DECISION =
  /^(?:so,? |okay,? |now,? )?(?:i|we) (?:need|have) to (?:call|use|check|look|get|find|run|fetch)\b/i

/** "I need to call get_time." */
function isDecision(sentence: string): boolean {
  return DECISION.test(sentence) && isAnnouncement(sentence.replace(DECISION, 'let me call'))
}
