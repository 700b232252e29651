import { createInterface, type Interface } from 'node:readline'
import type { JsonSchema } from '../schema/json-schema.ts'
import { typeText } from '../schema/signature.ts'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'

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
function readLine(lines: Interface, prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  const over = new AbortController()
  return new Promise<string | undefined>(resolve => {
    const giveUp = () => resolve(undefined)
    if (signal?.aborted) return giveUp()
    lines.once('close', giveUp)
    over.signal.addEventListener('abort', () => lines.off('close', giveUp))
    signal?.addEventListener('abort', giveUp, { signal: over.signal })
    lines.question(prompt, { signal: over.signal }, resolve)
  }).finally(() => over.abort())
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

/** The fields of an MCP elicitation schema, which is flat. */
export function fieldsOf(schema: unknown) {
  const { properties, required } = Object(schema) as JsonSchema
  return Object.entries(Object(properties) as JsonSchema).map(([name, given]) => {
    const property = Object(given) as JsonSchema
    const title = typeof property.title === 'string' && property.title.trim() !== '' ? property.title : name
    return { name, title, property, isRequired: Array.isArray(required) && required.includes(name) }
  })
}

/** Set if the form is a yes-or-no question: it has no fields, or a single boolean one, which is then named. */
export function yesNoField(schema: unknown): { field?: string } | undefined {
  const [field, more] = fieldsOf(schema)
  if (!field) return {}
  return field.property.type === 'boolean' && !more ? { field: field.name } : undefined
}
