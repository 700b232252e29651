import type { Question } from 'toolpost'
import { fieldsOf } from 'toolpost-common/question-fields'

const MAX_SAID_ARGUMENTS = 3
const MAX_SAID_CHARACTERS = 60
const MAX_SAID_MESSAGE = 300

/** "Delete file report.txt?": what a person is asked before a call, without anything that only a program reads. */
export function spokenQuestion(question: Question): string {
  const { about } = question
  if (!about) return serverQuestion(question)
  const { tool, title = inWords(tool.slice(tool.lastIndexOf('__') + 1).replace(/^_+/, '')) } = about
  const [first, ...others] = saidArguments(about.args)
  const named = others.map(({ name, value }) => `, ${name} ${value}`.trimEnd())
  const words = `${title}${first ? ` ${first.value || first.name}` : ''}${named.join('')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}?`
}

/** What a server asks, in its own words; the name of a field says what it is that is answered. */
function serverQuestion({ message, server, schema }: Question): string {
  const [field] = fieldsOf(schema) ?? []
  const asked = sentence(shortened(message.trim().replaceAll(/\s+/g, ' '), MAX_SAID_MESSAGE))
  return `${said(server)} asks: ${asked}${field ? ` ${sentence(field.title, '?')}` : ''}`
}

/** What cannot be answered by yes or no. */
export function needsScreen({ server }: Question): string {
  return `${said(server)} has a question that needs a screen, so I declined it.`
}

function said(server: string | undefined): string {
  return server === undefined ? 'A tool' : `The server ${inWords(server)}`
}

function sentence(text: string, end = '.'): string {
  return /[.!?…]$/.test(text) ? text : `${text}${end}`
}

/** The first few that can be said. What is merely switched on is said by its name alone, and what is off not at all. */
function saidArguments(args: unknown): { name: string; value: string }[] {
  return Object.entries(typeof args === 'object' ? (args ?? {}) : {})
    .flatMap(([name, value]) => {
      if (value === true) return [{ name: inWords(name), value: '' }]
      const isSaid = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
      return isSaid ? [{ name: inWords(name), value: shortened(String(value)) }] : []
    })
    .slice(0, MAX_SAID_ARGUMENTS)
}

/** The end of a path tells more than its beginning. */
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

const NO = /\b(?:no|nope|nah|not|don'?t|never|cancel|stop|abort|wait)\b/
const YES =
  /\b(?:yes|yeah|yep|yup|sure|ok|okay|do it|do that|please do|go ahead|of course|certainly|confirm)\b/g
const POLITE = /\b(?:please|thanks|thank you)\b/g

/** `undefined` if it is neither. A sentence that says both is a no, and one that says more than yes is no yes. */
export function yesOrNo(said: string): boolean | undefined {
  const words = said
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}']/gu, ' ')
  if (NO.test(words)) return false
  const rest = words.replaceAll(YES, '')
  return rest !== words && rest.replaceAll(POLITE, '').trim() === '' ? true : undefined
}
