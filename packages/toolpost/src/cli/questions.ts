import { createInterface, type Interface } from 'node:readline'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import { isRecord, ownValue } from '../util/guards.ts'

/** The terminal at which a person is asked. */
export interface AskedTerminal {
  /** Shows a text, with control characters made harmless. */
  say(text: string): void
  output: NodeJS.WritableStream & { isTTY?: boolean }
  /** What the person types; standard input if left out. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  /** The line reader of a conversation already running there. */
  lines?: Interface
}

/** A form field, as presented to a person. */
interface QuestionField {
  name: string
  title: string
  description: string | undefined
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'choices'
  choices: readonly { value: unknown; title: string }[]
  isRequired: boolean
  default: unknown
}

/** Shows a prompt and reads a line; without one: the terminal was closed, Escape was pressed, or the caller gave up. */
type Read = (prompt: string) => Promise<{ text: string } | { ended: 'closed' | 'aborted' }>

const NO_TERMINAL = 'there is no terminal to ask at'
const WAY_TO_ALLOW = "; allow it with a rule in 'policy' of toolpost.json, or run it in a terminal"

/** The line of the configuration that would allow a call. */
function ruleFor({ tool, server }: NonNullable<Question['about']>): string {
  const servers = server === undefined ? '' : `, "servers": [${JSON.stringify(server)}]`
  return `{ "tools": ${JSON.stringify(tool)}${servers}, "then": "allow" }`
}
const FORM_HELP = 'Press Enter for the default or to skip, Ctrl-D or Esc to cancel; type decline to refuse.'

/** Asks the person at the terminal, one question at a time. Without a terminal, the answer is no. */
export function askAtTerminal(terminal: AskedTerminal): Ask {
  const { input = process.stdin, output } = terminal
  let last: Promise<unknown> = Promise.resolve()
  return async question => {
    if (!input.isTTY || !output.isTTY) return nobody(question, terminal)
    const answer = last.then(() => askNow(question, terminal))
    // A question that fails does not affect the next one.
    last = answer.catch(() => {})
    return answer
  }
}

/** A denied call gives the reason in its result; a declined question from a server has to be reported here. */
function nobody({ about, server, message }: Question, { say }: AskedTerminal): QuestionAnswer {
  if (about !== undefined || server === undefined)
    return {
      action: 'decline',
      reason: `${NO_TERMINAL}${WAY_TO_ALLOW}${about ? `: ${ruleFor(about)}` : ''}`,
    }
  const [first = ''] = message.split('\n', 1)
  say(`${server} asked a question, which was declined because ${NO_TERMINAL}: ${first.slice(0, 200)}`)
  return { action: 'decline', reason: NO_TERMINAL }
}

async function askNow(question: Question, terminal: AskedTerminal): Promise<QuestionAnswer> {
  const { input = process.stdin, output } = terminal
  const lines = terminal.lines ?? createInterface({ input, output })
  try {
    return await put(question, terminal.say, prompt => readLine(lines, prompt, input, question.signal))
  } finally {
    if (!terminal.lines) lines.close()
  }
}

async function put(question: Question, say: AskedTerminal['say'], read: Read): Promise<QuestionAnswer> {
  const { about, message, server, schema, url, signal, secretFields = [] } = question
  const decline = (reason: string): QuestionAnswer => {
    say(`${reason} It was declined.`)
    return { action: 'decline', reason }
  }
  if (signal?.aborted) return { action: 'cancel' }
  say(server === undefined ? message : `${server} asks: ${message}`)
  if (url !== undefined) {
    say(`  ${url}`)
    if (!URL.canParse(url)) return decline('This is not a valid URL.')
    say(`This page belongs to ${new URL(url).host}, not to Toolpost. Open it in a browser if you trust it.`)
    say('Did you open it?')
    return yesOrNo(read, 'cancel')
  }
  const fields = schema ? fieldsOf(schema) : []
  if (!fields) return decline('This form cannot be filled in at a terminal.')
  // Closing the terminal denies a call, but only cancels a server's question.
  if (fields.length === 0) return yesOrNo(read, about === undefined ? 'cancel' : 'decline')
  const secret = fields.filter(({ name }) => secretFields.includes(name))
  const refused = `Servers must not ask for secrets this way; skipped: ${secret.map(({ title }) => title).join(', ')}.`
  if (secret.some(({ isRequired }) => isRequired)) return decline(refused)
  if (secret.length > 0) say(refused)
  const asked = fields.filter(field => !secret.includes(field))
  return fillForm(asked, { say, read, check: async (...given) => question.check?.(...given) })
}

async function yesOrNo(read: Read, left: 'decline' | 'cancel'): Promise<QuestionAnswer> {
  const typed = await read('[y/N] ')
  if ('text' in typed) return { action: /^\s*y(es)?\s*$/i.test(typed.text) ? 'accept' : 'decline' }
  if (typed.ended === 'aborted' || left === 'cancel') return { action: 'cancel' }
  return { action: 'decline', reason: 'the question was not answered' }
}

function readLine(
  lines: Interface,
  prompt: string,
  input: NodeJS.ReadableStream,
  signal: AbortSignal | undefined,
): ReturnType<Read> {
  const asking = new AbortController()
  return new Promise(resolve => {
    const end = (typed: Awaited<ReturnType<Read>>) => {
      signal?.removeEventListener('abort', aborted)
      lines.off('close', closed)
      input.off('keypress', pressed)
      asking.abort()
      resolve(typed)
    }
    const aborted = () => end({ ended: 'aborted' })
    const closed = () => end({ ended: 'closed' })
    const pressed = (_: unknown, key?: { name?: string }) => {
      if (key?.name !== 'escape') return
      lines.write(null, { ctrl: true, name: 'u' })
      closed()
    }
    if (signal?.aborted) return aborted()
    signal?.addEventListener('abort', aborted, { once: true })
    lines.once('close', closed)
    input.on('keypress', pressed)
    lines.question(prompt, { signal: asking.signal }, text => end({ text }))
  })
}

interface Form {
  say: AskedTerminal['say']
  read: Read
  check: NonNullable<Question['check']>
}

/** Asks field by field, then shows what will be sent, to be confirmed, declined or edited. */
async function fillForm(fields: readonly QuestionField[], form: Form): Promise<QuestionAnswer> {
  form.say(FORM_HELP)
  for (let before: Record<string, unknown> = {}; ; ) {
    const content: Record<string, unknown> = {}
    for (const field of fields) {
      const given = ownValue(before, field.name) ?? field.default
      const answer = await askField({ ...field, default: given }, form)
      if ('action' in answer) return answer
      if (answer.value !== undefined) content[field.name] = answer.value
    }
    before = content
    const problem = await form.check(content)
    if (problem !== undefined) {
      form.say(`Not valid: ${problem}. Try again:`)
      continue
    }
    form.say(JSON.stringify(content))
    const typed = await form.read('Send this? [Y/n/edit] ')
    if ('ended' in typed) return { action: 'cancel' }
    const text = typed.text.trim().toLowerCase()
    if (text === 'edit' || text === 'e') continue
    return ['', 'y', 'yes'].includes(text) ? { action: 'accept', content } : { action: 'decline' }
  }
}

/** Asks until the answer is valid; a value left empty is `undefined`. */
async function askField(field: QuestionField, form: Form): Promise<QuestionAnswer | { value: unknown }> {
  const { title, description, isRequired, choices, kind, default: given } = field
  const shown = typeof given === 'string' ? given : JSON.stringify(given)
  const notes = [isRequired && 'required', given !== undefined && `default: ${shown}`].filter(Boolean)
  const several = kind === 'choices' ? ', several separated by commas' : ''
  const head = `${title}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}${several}`
  const list = choices.map((choice, at) => `\n  ${at + 1}) ${choice.title}`)
  form.say(`\n${head}${description ? `: ${description}` : ''}${list.join('')}`)
  for (;;) {
    const typed = await form.read(kind === 'boolean' ? '[yes/no] ' : '> ')
    if ('ended' in typed) return { action: 'cancel' }
    const text = typed.text.trim()
    if (text === 'decline' && !choices.some(choice => isMeant(choice, text))) return { action: 'decline' }
    const isEmpty = text === ''
    const value = isEmpty ? given : typedValue(field, typed.text)
    const problem =
      value === undefined
        ? isEmpty
          ? isRequired && 'this is required'
          : EXPECTED[kind]
        : await form.check({ [field.name]: value }, field.name)
    if (!problem) return { value }
    form.say(`  ${problem}`)
  }
}

const EXPECTED: Record<QuestionField['kind'], string> = {
  text: 'please type a text',
  number: 'that is not a number',
  boolean: 'please answer yes or no',
  choice: 'choose one of the list',
  choices: 'choose any of the list, separated by commas',
}

/** What was typed, as a value for the field; `undefined` if it is none. */
function typedValue({ kind, choices }: QuestionField, typed: string): unknown {
  const text = typed.trim()
  if (kind === 'text') return typed
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : undefined
  if (kind === 'boolean')
    return /^(?:y|yes|true|1)$/i.test(text) ? true : /^(?:n|no|false|0)$/i.test(text) ? false : undefined
  const chosen = (kind === 'choice' ? [text] : text.split(',').map(part => part.trim())).map(
    part => choices.find(choice => isMeant(choice, part)) ?? choices[Number(part) - 1],
  )
  const values = chosen.flatMap(choice => (choice ? [choice.value] : []))
  if (values.length < chosen.length) return undefined
  return kind === 'choice' ? values[0] : [...new Set(values)]
}

function isMeant({ value, title }: { value: unknown; title: string }, text: string): boolean {
  return [String(value), title].some(each => each.toLowerCase() === text.toLowerCase())
}

/**
 * The fields of an MCP elicitation schema, which is flat: text, number, boolean, or one or more of several choices, in
 * any notation the protocol has ever had. `undefined` if a field is anything else.
 */
export function fieldsOf(schema: unknown): QuestionField[] | undefined {
  const { properties, required } = isRecord(schema) ? schema : {}
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) =>
    fieldOf(name, field, needed.includes(name)),
  )
  return fields.every(field => field !== undefined) ? fields : undefined
}

/** Set if the form is a yes-or-no question: it has no fields, or a single boolean one, which is then named. */
export function yesNoField(schema: unknown): { field?: string } | undefined {
  const fields = fieldsOf(schema)
  if (fields?.length === 0) return {}
  const [field, more] = fields ?? []
  return field?.kind === 'boolean' && !more ? { field: field.name } : undefined
}

const KINDS: Readonly<Record<string, QuestionField['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

function fieldOf(name: string, schema: unknown, isRequired: boolean): QuestionField | undefined {
  if (!isRecord(schema)) return undefined
  const single = choicesIn(schema)
  const several = schema.type === 'array' && isRecord(schema.items) ? choicesIn(schema.items) : undefined
  const kind = single ? 'choice' : several ? 'choices' : ownValue(KINDS, String(schema.type))
  if (!kind) return undefined
  const [title = name, description] = [textIn(schema.title), textIn(schema.description)]
  const choices = single ?? several ?? []
  return { name, title, description, kind, choices, isRequired, default: schema.default }
}

function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Record<string, unknown>) {
  if (Array.isArray(values)) {
    const titles: unknown[] = Array.isArray(enumNames) ? enumNames : []
    return values.map((value, at) => ({ value, title: textIn(titles[at]) ?? String(value) }))
  }
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled) || !titled.every(each => isRecord(each) && 'const' in each)) return undefined
  return titled.map(({ const: value, title }) => ({ value, title: textIn(title) ?? String(value) }))
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
