import { type QuestionField, typedValue } from './question-fields.ts'
import type { Typed } from './terminal-lines.ts'

export interface FormTerminal {
  say(text: string): void
  read(prompt: string): Promise<Typed>
  /** Returns what is wrong with the values, or with `field` alone. */
  check(content: Record<string, unknown>, field?: string): Promise<string | undefined>
}

export interface Filled {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
}

type Read = { value: unknown } | { problem: string }

const HELP = 'Press Enter for the default or to skip, Ctrl-D or Esc to cancel; type decline to refuse.'
const MAX_SHOWN_CHOICES = 100
const SKIPPED = Symbol('skipped')

/** Asks field by field, then shows what will be sent, to be confirmed, declined or edited. */
export async function fillForm(fields: readonly QuestionField[], terminal: FormTerminal): Promise<Filled> {
  terminal.say(HELP)
  for (let defaults: Record<string, unknown> = {}; ; ) {
    const content: Record<string, unknown> = {}
    for (const field of fields) {
      const given = Object.hasOwn(defaults, field.name) ? defaults[field.name] : field.default
      const answer = await askField({ ...field, default: given }, terminal)
      if ('action' in answer) return answer
      if (answer.value !== SKIPPED) content[field.name] = answer.value
    }
    const filled = await confirm(content, terminal)
    if (filled) return filled
    defaults = content
  }
}

/** `undefined` if the person wants to change something. */
async function confirm(
  content: Record<string, unknown>,
  terminal: FormTerminal,
): Promise<Filled | undefined> {
  const problem = await terminal.check(content)
  if (problem !== undefined) {
    terminal.say(`Not valid: ${problem}. Try again:`)
    return undefined
  }
  terminal.say(JSON.stringify(content))
  const typed = await terminal.read('Send this? [Y/n/edit] ')
  if ('ended' in typed) return { action: 'cancel' }
  const text = typed.text.trim().toLowerCase()
  if (text === 'edit' || text === 'e') return undefined
  return text === '' || text === 'y' || text === 'yes' ? { action: 'accept', content } : { action: 'decline' }
}

/** Asks until the answer is valid. */
async function askField(field: QuestionField, terminal: FormTerminal): Promise<Filled | { value: unknown }> {
  terminal.say(describe(field))
  for (;;) {
    const typed = await terminal.read(field.kind === 'boolean' ? '[yes/no] ' : '> ')
    if ('ended' in typed) return { action: 'cancel' }
    const answer = read(field, typed.text)
    if ('action' in answer) return answer
    const checked = 'problem' in answer ? answer : await checkedValue(answer.value, field, terminal)
    if ('value' in checked) return checked
    terminal.say(`  ${checked.problem}`)
  }
}

async function checkedValue(value: unknown, { name }: QuestionField, terminal: FormTerminal): Promise<Read> {
  const problem = value === SKIPPED ? undefined : await terminal.check({ [name]: value }, name)
  return problem === undefined ? { value } : { problem }
}

function read(field: QuestionField, text: string): Filled | Read {
  if (text.trim() === '') {
    if (field.default !== undefined) return { value: field.default }
    return field.isRequired ? { problem: 'this is required' } : { value: SKIPPED }
  }
  const isChoice = field.choices.some(({ value, title }) => value === 'decline' || title === 'decline')
  return text.trim() === 'decline' && !isChoice ? { action: 'decline' } : typedValue(field, text)
}

function describe({ title, description, isRequired, choices, ...field }: QuestionField): string {
  const notes = [isRequired && 'required', field.default !== undefined && `default: ${shown(field.default)}`]
  const note = notes.filter(Boolean).join(', ')
  const list = choices.slice(0, MAX_SHOWN_CHOICES).map(({ title: name }, at) => `  ${at + 1}) ${name}`)
  if (choices.length > MAX_SHOWN_CHOICES) list.push(`  … and ${choices.length - MAX_SHOWN_CHOICES} more`)
  const several = field.kind === 'choices' ? ', several separated by commas' : ''
  const head = `${title}${note && ` (${note})`}${several}${description ? `: ${description}` : ''}`
  return ['', head, ...list].join('\n')
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
