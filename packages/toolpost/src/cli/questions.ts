import { createInterface, type Interface } from 'node:readline'
import type { Ask, Question, QuestionAnswer } from '../tools/caller.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { isYes } from './terminal.ts'

const NO_TERMINAL = 'there is no terminal to ask at'
const WAY_TO_ALLOW = "allow it with a rule in 'policy' of toolpost.json, or run it in a terminal"
const FORM_HELP = 'Press Enter for the default or to skip, Ctrl-D to cancel; type decline to refuse.'

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
      return await put(question, { say, read: prompt => readLine(lines, prompt, question.signal) })
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

type Person = Pick<AskedTerminal, 'say'> & { read(prompt: string): Promise<string | undefined> }

async function put(question: Question, { say, read }: Person): Promise<QuestionAnswer> {
  const { about, message, server, schema, url, secretFields = [] } = question
  const decline = (reason: string): QuestionAnswer => {
    say(`${reason} It was declined.`)
    return { action: 'decline', reason }
  }
  say(server === undefined ? message : `${server} asks: ${message}`)
  if (url !== undefined) {
    say(`  ${url}`)
    if (!URL.canParse(url)) return decline('This is not a valid URL.')
    say(`This page belongs to ${new URL(url).host}, not to Toolpost. Open it in a browser if you trust it.`)
    say('Did you open it?')
  }
  const fields = schema && url === undefined ? fieldsOf(schema) : []
  if (!fields) return decline('This form cannot be filled in at a terminal.')
  if (fields.length === 0) {
    const typed = await read('[y/N] ')
    if (typed !== undefined) return { action: isYes(typed) ? 'accept' : 'decline' }
    // Closing the terminal denies a call, but only cancels a server's question.
    if (about === undefined || question.signal?.aborted) return { action: 'cancel' }
    return { action: 'decline', reason: 'the question was not answered' }
  }
  const secret = fields.filter(({ name }) => secretFields.includes(name))
  const refused = `Servers must not ask for secrets this way; skipped: ${secret.map(({ title }) => title).join(', ')}.`
  if (secret.some(({ isRequired }) => isRequired)) return decline(refused)
  if (secret.length > 0) say(refused)
  say(FORM_HELP)
  const content: Record<string, unknown> = {}
  for (const field of fields.filter(each => !secret.includes(each))) {
    say(`\n${describe(field)}`)
    for (let problem: string | undefined | false = ''; problem !== undefined; ) {
      if (problem) say(`  ${problem}`)
      const typed = (await read('> '))?.trim()
      if (typed === undefined) return { action: 'cancel' }
      if (typed === 'decline') return { action: 'decline' }
      const value = typed === '' ? field.default : typedValue(field, typed)
      if (value !== undefined) content[field.name] = value
      if (value !== undefined) problem = await question.check?.({ [field.name]: value }, field.name)
      else problem = typed === '' && !field.isRequired ? undefined : `please give ${EXPECTED[field.kind]}`
    }
  }
  const problem = await question.check?.(content)
  if (problem !== undefined) return decline(`Not valid: ${problem}.`)
  say(JSON.stringify(content))
  const typed = await read('Send this? [Y/n] ')
  if (typed === undefined) return { action: 'cancel' }
  return typed.trim() === '' || isYes(typed) ? { action: 'accept', content } : { action: 'decline' }
}

interface Field {
  name: string
  title: string
  description: unknown
  kind: keyof typeof EXPECTED
  choices: { value: unknown; title: string }[]
  isRequired: boolean
  default: unknown
}

const EXPECTED = {
  text: 'a text',
  number: 'a number',
  boolean: 'yes or no',
  choice: 'one of the list',
  choices: 'any of the list, separated by commas',
}

const KINDS: Record<string, Field['kind']> = {
  ...{ string: 'text', number: 'number', integer: 'number', boolean: 'boolean' },
}

function describe({ title, description, isRequired, choices, kind, default: given }: Field): string {
  const usual =
    given === undefined ? '' : `, default: ${typeof given === 'string' ? given : JSON.stringify(given)}`
  const list = choices.map((choice, at) => `\n  ${at + 1}) ${choice.title}`)
  const head = `${title} (${isRequired ? 'required' : 'optional'}, ${EXPECTED[kind]}${usual})`
  return `${head}${description ? `: ${description}` : ''}${list.join('')}`
}

/** What was typed, as a value for the field; `undefined` if it is none. */
function typedValue({ kind, choices }: Field, typed: string): unknown {
  if (kind === 'text') return typed
  if (kind === 'number') return Number.isFinite(Number(typed)) ? Number(typed) : undefined
  if (kind === 'boolean')
    return /^(?:y|yes|true)$/i.test(typed) || (/^(?:n|no|false)$/i.test(typed) ? false : undefined)
  const parts = kind === 'choice' ? [typed] : typed.split(',').map(part => part.trim())
  const values = parts.flatMap(part => {
    const isMeant = ({ value, title }: Field['choices'][number]) =>
      [String(value), title].some(each => each.toLowerCase() === part.toLowerCase())
    const found = choices.find(isMeant) ?? choices[Number(part) - 1]
    return found ? [found.value] : []
  })
  if (values.length < parts.length) return undefined
  return kind === 'choice' ? values[0] : [...new Set(values)]
}

/**
 * The fields of an MCP elicitation schema, which is flat: text, number, boolean, or one or more of several choices, in
 * any notation the protocol has ever had. `undefined` if a field is anything else.
 */
export function fieldsOf(schema: unknown): Field[] | undefined {
  const { properties, required } = isRecord(schema) ? schema : {}
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, given]) => {
    const { type, title, description, items, ...schema } = isRecord(given) ? given : {}
    const one = choicesIn(schema)
    const several = type === 'array' && isRecord(items) ? choicesIn(items) : undefined
    const kind = one ? 'choice' : several ? 'choices' : ownValue(KINDS, String(type))
    const field = { name, title: titleOf(title, name), description, default: schema.default }
    const isRequired = Array.isArray(required) && required.includes(name)
    return kind && { ...field, kind, choices: one ?? several ?? [], isRequired }
  })
  return fields.every(field => field !== undefined) ? fields : undefined
}

/** Set if the form is a yes-or-no question: it has no fields, or a single boolean one, which is then named. */
export function yesNoField(schema: unknown): { field?: string } | undefined {
  const fields = fieldsOf(schema)
  if (fields?.length === 0) return {}
  const [field, more] = fields ?? []
  return field?.kind === 'boolean' && !more ? { field: field.name } : undefined
}

function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Record<string, unknown>) {
  const titles: unknown[] = Array.isArray(enumNames) ? enumNames : []
  if (Array.isArray(values)) return values.map((value, at) => ({ value, title: titleOf(titles[at], value) }))
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled) || !titled.every(each => isRecord(each) && 'const' in each)) return undefined
  return titled.map(({ const: value, title }) => ({ value, title: titleOf(title, value) }))
}

function titleOf(title: unknown, otherwise: unknown): string {
  return typeof title === 'string' && title.trim() !== '' ? title : String(otherwise)
}
