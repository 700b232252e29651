import { createInterface, type Interface } from 'node:readline'
import type { JsonSchema } from '../schema/json-schema.ts'
import { typeText } from '../schema/signature.ts'
import { type Ask, fieldsOf, type Question, type QuestionAnswer } from '../tools/caller.ts'

const NO_TERMINAL = 'there is no terminal to ask at'
const WAY_TO_ALLOW = "allow it with a rule in 'policy' of toolpost.json, or run it in a terminal"
const FORM_HELP = 'Press Enter for the default or to skip, Ctrl-D to cancel; type decline to refuse.'

const isYes = (typed: string): boolean => /^\s*(y|yes|true)\s*$/i.test(typed)

export interface AskedTerminal {
  /** Shows a text, with control characters made harmless. */
  say(text: string): void
  output: NodeJS.WritableStream & { isTTY?: boolean }
  /** What the person types; standard input if left out. */
  input?: (NodeJS.ReadableStream & { isTTY?: boolean }) | undefined
  /** The line reader of a conversation already running there. */
  lines?: Interface | undefined
}

/** Asks the person at the terminal, one question at a time. Without a terminal, the answer is no. */
export function askAtTerminal({ input = process.stdin, output, say, lines: given }: AskedTerminal): Ask {
  let last: Promise<unknown> = Promise.resolve()
  const askNow = async (question: Question) => {
    const lines = given ?? createInterface({ input, output })
    try {
      return await put(question, say, prompt => readLine(lines, prompt, question.signal))
    } finally {
      if (!given) lines.close()
    }
  }
  return async question => {
    if (!input.isTTY || !output.isTTY) return declined(question, say)
    const answer = last.then(() => askNow(question))
    // A question that fails does not affect the next one.
    last = answer.catch(() => {})
    return answer
  }
}

/** A denied call says why; for a server's question it is said here. */
function declined({ about, server, message }: Question, say: AskedTerminal['say']): QuestionAnswer {
  if (about === undefined && server !== undefined) {
    const [first = ''] = message.split('\n', 1)
    say(`${server} asked a question, which was declined because ${NO_TERMINAL}: ${first.slice(0, 200)}`)
    return { action: 'decline', reason: NO_TERMINAL }
  }
  const servers = about?.server === undefined ? '' : `, "servers": [${JSON.stringify(about.server)}]`
  const rule = about && `: { "tools": ${JSON.stringify(about.tool)}${servers}, "then": "allow" }`
  return { action: 'decline', reason: `${NO_TERMINAL}; ${WAY_TO_ALLOW}${rule ?? ''}` }
}

/** `undefined` if the terminal was closed, or the caller gave up. */
function readLine(lines: Interface, prompt: string, given?: AbortSignal): Promise<string | undefined> {
  const over = new AbortController()
  const signal = given ? AbortSignal.any([given, over.signal]) : over.signal
  const giveUp = () => over.abort()
  return new Promise<string | undefined>(resolve => {
    signal.addEventListener('abort', () => resolve(undefined))
    if (signal.aborted) return resolve(undefined)
    lines.once('close', giveUp)
    lines.question(prompt, { signal }, resolve)
  }).finally(() => lines.off('close', giveUp))
}

async function put(
  { about, message, server, schema, url, check, signal, secretFields = [] }: Question,
  say: AskedTerminal['say'],
  read: (prompt: string) => Promise<string | undefined>,
): Promise<QuestionAnswer> {
  const decline = (reason: string): QuestionAnswer => {
    say(`${reason} It was declined.`)
    return { action: 'decline', reason }
  }
  say(server === undefined ? message : `${server} asks: ${message}`)
  if (url !== undefined && !URL.canParse(url)) return decline('This is not a valid URL.')
  if (url !== undefined)
    say(
      `  ${url}\nThis page belongs to ${new URL(url).host}, not to Toolpost. Open it if you trust it. Did you?`,
    )
  const fields = url === undefined ? fieldsOf(schema) : []
  if (fields.length === 0) {
    const typed = await read('[y/N] ')
    if (typed !== undefined) return { action: isYes(typed) ? 'accept' : 'decline' }
    // Closing the terminal denies a call, but only cancels a server's question.
    if (about === undefined || signal?.aborted) return { action: 'cancel' }
    return { action: 'decline', reason: 'the question was not answered' }
  }
  const secret = fields.filter(({ name }) => secretFields.includes(name))
  const refused = `Servers must not ask for secrets this way; skipped: ${secret.map(({ title }) => title).join(', ')}.`
  if (secret.some(({ isRequired }) => isRequired)) return decline(refused)
  say(secret.length > 0 ? `${refused}\n${FORM_HELP}` : FORM_HELP)
  for (;;) {
    const content: Record<string, unknown> = {}
    for (const { name, title, property, isRequired } of fields.filter(each => !secret.includes(each))) {
      const { description, default: usual } = property
      const expected = `${isRequired ? '' : 'optional, '}${typeText(property, property)}`
      say(`\n${title} (${expected}${usual === undefined ? '' : `, default: ${usual}`})`)
      if (description) say(`  ${description}`)
      const typed = (await read('> '))?.trim()
      if (typed === undefined || typed === 'decline') return { action: typed ?? 'cancel' }
      const value = typed === '' ? usual : typedValue(property, typed)
      if (value !== undefined) content[name] = value
    }
    const problem = await check?.(content)
    say(problem === undefined ? JSON.stringify(content) : `Not valid: ${problem}.`)
    const typed = problem === undefined ? await read('Send this? [Y/n] ') : ''
    if (typed === undefined) return { action: 'cancel' }
    const isSent = typed.trim() === '' || isYes(typed)
    if (problem === undefined) return isSent ? { action: 'accept', content } : { action: 'decline' }
  }
}

/** What was typed, as the schema of a field expects it, if it can be read so. */
function typedValue({ type }: JsonSchema, typed: string): unknown {
  if (type === 'boolean') return isYes(typed) || (/^(n|no|false)$/i.test(typed) ? false : typed)
  if (type === 'number' || type === 'integer') return Number.isFinite(Number(typed)) ? Number(typed) : typed
  return type === 'array' ? typed.split(',').map(part => part.trim()) : typed
}
