import type { Clock, Question, QuestionAnswer, Timer } from 'toolpost'
import { fieldsOf, yesNoField } from 'toolpost/terminal'
import { yesOrNo } from '../listening/yes-or-no.ts'
import type { VoiceBus } from '../messages.ts'
import type { Mouth } from '../speech-out/mouth.ts'

/** How long after a question a yes or no counts as its answer; silence means no. */
export const ANSWER_WINDOW_MS = 8_000
/** Nobody can decide about more than this by ear. */
const MAX_SAID_BYTES = 2_000
const MAX_SAID_CHARACTERS = 300

/** The outcome of a question; `undefined` if it was withdrawn or the gateway closed. */
type Reply = boolean | 'nobody answered' | 'something else was said' | undefined

interface OpenQuestion {
  /** How many utterances are being heard that may be the answer. */
  hearing: number
  silence?: Timer | undefined
  end(reply: Reply): void
}

/**
 * Asks aloud: before something is done, and on behalf of a server if yes or no is enough. A yes or no said next in the
 * same conversation is the answer; anything else is a new request and ends the question.
 */
export class Questions {
  readonly #mouth: Mouth
  readonly #clock: Clock
  readonly #bus: VoiceBus | undefined
  readonly #open = new Map<string, OpenQuestion>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(mouth: Mouth, clock: Clock, bus: VoiceBus | undefined) {
    this.#mouth = mouth
    this.#clock = clock
    this.#bus = bus
  }

  /** Asks before a call, or on behalf of a server. Never rejects. */
  async ask(conversation: string, question: Question): Promise<QuestionAnswer> {
    const mouth = this.#mouth
    const { about, url, schema, signal } = question
    if (about && Buffer.byteLength(JSON.stringify(about.args) ?? '') > MAX_SAID_BYTES) {
      mouth.insist('This is too long to read out. Allow it in the console first.')
      // Others can still decide.
      return { action: 'cancel' }
    }
    const form = url === undefined ? yesNoField(schema) : undefined
    if (!form) {
      mouth.insist(`${serverName(question)} has a question that needs a screen, so I declined it.`)
      return { action: 'decline', reason: 'it needs a screen' }
    }
    const words = about ? callQuestion(about) : serverQuestion(question)
    const reply = await this.#put(conversation, `${words} Say yes or no.`, signal)
    if (reply === 'nobody answered') mouth.insist('I heard no answer, so nothing was done.')
    if (reply === undefined && signal?.aborted) return { action: 'cancel' }
    if (typeof reply !== 'boolean')
      return { action: 'decline', reason: reply ?? 'the voice gateway was closed' }
    // For a field, no is as good an answer as yes.
    if (form.field !== undefined) return { action: 'accept', content: { [form.field]: reply } }
    return { action: reply ? 'accept' : 'decline' }
  }

  /** Asks whether that is what was meant. */
  async confirm(conversation: string, sentence: string): Promise<boolean> {
    const reply = await this.#put(conversation, sentence)
    if (reply === false) this.#mouth.insist('Okay.')
    return reply === true
  }

  /**
   * Somebody is speaking in a conversation: if a question is open there, silence no longer ends it. The result takes what
   * was heard, or undefined for noise, and returns whether that was the answer.
   */
  listenIn(conversation: string): ((text: string | undefined) => boolean) | undefined {
    const question = this.#open.get(conversation)
    if (!question) return undefined
    question.silence?.cancel()
    question.hearing++
    return text => {
      question.hearing--
      if (text === undefined) this.#awaitSilence(conversation, question)
      if (text === undefined || this.#open.get(conversation) !== question) return false
      const answer = yesOrNo(text)
      question.end(answer ?? 'something else was said')
      return answer !== undefined
    }
  }

  /** Ends all open questions. */
  close(): void {
    for (const question of this.#open.values()) question.end(undefined)
  }

  /** One question at a time. */
  #put(conversation: string, words: string, signal?: AbortSignal): Promise<Reply> {
    const mouth = this.#mouth
    const put = async () => {
      if (signal?.aborted) return undefined
      const reply = await new Promise<Reply>(resolve => {
        const end = (answer: Reply) => {
          question.silence?.cancel()
          signal?.removeEventListener('abort', withdraw)
          this.#open.delete(conversation)
          resolve(answer)
        }
        const withdraw = () => end(undefined)
        const question: OpenQuestion = { hearing: 0, end }
        this.#open.set(conversation, question)
        signal?.addEventListener('abort', withdraw, { once: true })
        this.#bus?.question?.({ conversation, text: words, at: new Date().toISOString() })
        mouth.insist(words)
        void mouth.finish().then(() => this.#awaitSilence(conversation, question))
      })
      // Skip the rest of a question that is already answered, but speak what follows.
      mouth.interrupt()
      mouth.resume()
      return reply
    }
    const reply = this.#last.then(put)
    this.#last = reply
    return reply
  }

  /** From now on silence counts as an answer, unless somebody is being heard. */
  #awaitSilence(conversation: string, question: OpenQuestion): void {
    if (question.hearing > 0 || this.#open.get(conversation) !== question) return
    question.silence?.cancel()
    question.silence = this.#clock.setTimer(() => question.end('nobody answered'), ANSWER_WINDOW_MS)
  }
}

/** "Delete file report.txt?", or "Delete file of my files, path report.txt?": the question before a call. */
function callQuestion({ tool, server, title, args }: NonNullable<Question['about']>): string {
  const own = inWords(tool.slice(tool.lastIndexOf('__') + 1))
  const said = Object.entries(Object(args) as object).map(([name, value]) => {
    // A flag that is on is said by name alone.
    const text = value === true ? '' : typeof value === 'string' ? value : JSON.stringify(value)
    return { text, named: `, ${inWords(name)} ${text}`.trimEnd() }
  })
  // A server chooses its titles: what runs is the tool.
  const subject = server === undefined ? (title ?? own) : `${own} of ${inWords(server)}`
  const [first] = said
  const object = server === undefined && first?.text ? ` ${first.text}` : ''
  const named = said.slice(object ? 1 : 0).map(each => each.named)
  const words = `${subject}${object}${named.join('')}`
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}?`
}

/** A server's question in its own words, of which the end says most; the field's name says what is being answered. */
function serverQuestion(question: Question): string {
  const [field] = fieldsOf(question.schema) ?? []
  const text = question.message.trim().replaceAll(/\s+/g, ' ')
  const asked = text.length <= MAX_SAID_CHARACTERS ? text : `… ${text.slice(-MAX_SAID_CHARACTERS)}`
  return `${serverName(question)} asks: ${sentence(asked)}${field ? ` ${sentence(field.title, '?')}` : ''}`
}

function serverName({ server }: Question): string {
  return server === undefined ? 'A tool' : `The server ${inWords(server)}`
}

function sentence(text: string, end = '.'): string {
  return /[.!?…]$/.test(text) ? text : `${text}${end}`
}

function inWords(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_\-.]+/g, ' ')
  return words.trim().toLowerCase()
}
