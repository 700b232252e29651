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

/** Longest first: "do not" is not "do". */
const NO =
  /\b(?:(?:absolutely|certainly|definitely|of course|rather|better|please) not|not (?:now|really|that(?: one)?|this(?: one)?|it|at all|yet)|no (?:way|thanks|thank you)|do not|don'?t|never ?mind|forget (?:it|that|about it)|leave (?:it|that)|no|nope|nah|nay|never|not|cancel|stop|abort|wait|hold on|negative|wrong|neither)\b/g
const YES =
  /\b(?:yes|yeah|yea|yep|yup|ya|aye|sure(?: thing)?|ok|okay|al(?:l )?right|right|correct|exactly|indeed|do (?:it|that|so)|please do|go (?:ahead|on|for it)|of course|certainly|absolutely|definitely|confirm(?:ed)?|affirmative|fine|sounds good|that(?: i|'?)s (?:it|right|correct|the one|what i (?:meant|want|said))|that one|i (?:do|did|am)|it is|you got it|you bet|mhm|uh huh)\b/g
/** A sentence that begins like this is not a request, whatever follows. */
const NEGATED = /^(?:no |oh |please |well )*(?:do not|don'?t|never) /
const POLITE =
  /\b(?:please|thanks|thank you|thank|you|very much|then|just|well|oh|um+|uh+|hm+|actually|it|that(?:'?s| is)?|this|now|i (?:said|did|do)|did|meant?)\b/g

/** `undefined` if it is neither. A sentence with both is a no; one that says more than yes or no is neither. */
export function yesOrNo(said: string): boolean | undefined {
  const words = said
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .trim()
  if (NEGATED.test(words)) return false
  const withoutNo = words.replaceAll(NO, '')
  const withoutBoth = withoutNo.replaceAll(YES, '')
  if (withoutBoth === words || withoutBoth.replaceAll(POLITE, '').trim() !== '') return undefined
  return withoutNo === words
}
