import type { Question } from 'toolpost'
import { fieldsOf } from 'toolpost/terminal'

const MAX_SAID_MESSAGE = 300
/** Nobody can decide about more than this by ear. */
const MAX_SAID_BYTES = 2_000

/** "Delete file report.txt?", or "Delete file of my files, path report.txt?": the question before a call. */
export function spokenQuestion(question: Question): string {
  const { about } = question
  if (!about) return serverQuestion(question)
  const { tool, server, title } = about
  const own = inWords(tool.slice(tool.lastIndexOf('__') + 1).replace(/^_+/, ''))
  // A server chooses its titles: what runs is the tool.
  const subject = server === undefined ? (title ?? own) : `${own} of ${inWords(server)}`
  const [first, ...others] = saidArguments(about.args)
  const rest = server === undefined ? others : saidArguments(about.args)
  const named = rest.map(({ name, value }) => `, ${name} ${value}`.trimEnd())
  const object = server === undefined && first ? ` ${first.value || first.name}` : ''
  const words = `${subject}${object}${named.join('')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}?`
}

/** Whether a call has more arguments than a person can follow when they are read out. */
export function isTooLong({ about }: Question): boolean {
  return about !== undefined && Buffer.byteLength(JSON.stringify(about.args) ?? '') > MAX_SAID_BYTES
}

/** A server's question in its own words; the field's name says what is being answered. */
function serverQuestion({ message, server, schema }: Question): string {
  const [field] = fieldsOf(schema) ?? []
  const asked = sentence(shortened(message.trim().replaceAll(/\s+/g, ' '), MAX_SAID_MESSAGE))
  return `${said(server)} asks: ${asked}${field ? ` ${sentence(field.title, '?')}` : ''}`
}

/** For questions that yes or no cannot answer. */
export function needsScreen({ server }: Question): string {
  return `${said(server)} has a question that needs a screen, so I declined it.`
}

function said(server: string | undefined): string {
  return server === undefined ? 'A tool' : `The server ${inWords(server)}`
}

function sentence(text: string, end = '.'): string {
  return /[.!?…]$/.test(text) ? text : `${text}${end}`
}

/** Every argument, whole. A flag that is on is said by name alone. */
function saidArguments(args: unknown): { name: string; value: string }[] {
  return Object.entries(typeof args === 'object' ? (args ?? {}) : {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return { name: inWords(name), value: value === true ? '' : text }
  })
}

/** Keeps the end: it says more about a path than its beginning. */
function shortened(value: string, limit: number): string {
  return value.length <= limit ? value : `… ${value.slice(-limit)}`
}

function inWords(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_\-.]/g, ' ')
    .trim()
    .toLowerCase()
}
