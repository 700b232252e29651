import type { Question } from 'toolpost'
import { fieldsOf } from 'toolpost/terminal'

const MAX_SAID_ARGUMENTS = 3
const MAX_SAID_CHARACTERS = 60
const MAX_SAID_MESSAGE = 300

/** "Delete file report.txt?": the question before a call, without anything meant only for programs. */
export function spokenQuestion(question: Question): string {
  const { about } = question
  if (!about) return serverQuestion(question)
  const { tool, title = inWords(tool.slice(tool.lastIndexOf('__') + 1).replace(/^_+/, '')) } = about
  const [first, ...others] = saidArguments(about.args)
  const named = others.map(({ name, value }) => `, ${name} ${value}`.trimEnd())
  const words = `${title}${first ? ` ${first.value || first.name}` : ''}${named.join('')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}?`
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

/** The first few speakable arguments. A flag that is on is said by name alone; one that is off is not said. */
function saidArguments(args: unknown): { name: string; value: string }[] {
  return Object.entries(typeof args === 'object' ? (args ?? {}) : {})
    .flatMap(([name, value]) => {
      if (value === true) return [{ name: inWords(name), value: '' }]
      const isSaid = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
      return isSaid ? [{ name: inWords(name), value: shortened(String(value)) }] : []
    })
    .slice(0, MAX_SAID_ARGUMENTS)
}

/** Keeps the end: it says more about a path than its beginning. */
function shortened(value: string, limit = MAX_SAID_CHARACTERS): string {
  return value.length <= limit ? value : `… ${value.slice(-limit)}`
}

function inWords(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_\-.]/g, ' ')
    .trim()
    .toLowerCase()
}
