import type { Logger } from 'toolpost'
import { isCodeFence, SentenceSplitter, speakable } from './speakable.ts'
import type { Speaker } from './speaker.ts'

interface MouthOptions {
  /** Undefined: nothing is spoken. */
  speaker: Speaker | undefined
  logger: Logger
  /** Called when it cannot speak: once, until it can again. */
  onProblem(problem: string): void
}

/** An answer that is spoken while it is still being written. */
class SpokenAnswer {
  hasWords = false
  inCode = false
  /** When the last sentence, and the one before it, were spoken. */
  last: Promise<void> = Promise.resolve()
  beforeLast: Promise<void> = Promise.resolve()
  readonly splitter = new SentenceSplitter()
  readonly stopping = new AbortController()
}

/** Speaks one answer after another: whole sentences, in order, each synthesized while the one before it plays. */
export class Mouth {
  readonly #options: MouthOptions
  #answer = new SpokenAnswer()
  #isBroken = false

  constructor(options: MouthOptions) {
    this.#options = options
  }

  /** Starts a new answer. */
  begin(): void {
    this.#answer = new SpokenAnswer()
  }

  /** The next piece of the answer. */
  add(text: string): void {
    if (text.trim() !== '') this.#answer.hasWords = true
    for (const sentence of this.#answer.splitter.push(text)) this.#line(sentence)
  }

  /** A filler while the answer is being made. */
  fill(sentence: string): void {
    this.#speak(speakable(sentence))
  }

  /** A sentence that must be heard, whatever was interrupted before. */
  insist(sentence: string): void {
    this.resume()
    this.add(`\n${sentence}\n`)
  }

  /** Speaks what follows, even after an interruption. */
  resume(): void {
    if (this.#answer.stopping.signal.aborted) this.begin()
  }

  /** Stops what is being said. Does not affect an answer that has not begun. */
  interrupt(): void {
    if (this.#answer.hasWords) this.shut()
  }

  /** Stops speaking, including the rest of this answer. */
  shut(): void {
    this.#answer.stopping.abort()
  }

  /** Resolves when everything was spoken, was interrupted, or cannot be spoken. */
  async finish(): Promise<void> {
    const answer = this.#answer
    for (const sentence of answer.splitter.end()) this.#line(sentence)
    const { signal } = answer.stopping
    const stopped = new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([answer.last, stopped])
    answer.hasWords = false
  }

  #line(sentence: string): void {
    if (isCodeFence(sentence)) this.#answer.inCode = !this.#answer.inCode
    else if (!this.#answer.inCode) this.#speak(speakable(sentence))
  }

  #speak(sentence: string): void {
    const { speaker, logger, onProblem } = this.#options
    const answer = this.#answer
    const { last, beforeLast, stopping } = answer
    const { signal } = stopping
    if (!sentence || !speaker || signal.aborted) return
    const sound = beforeLast.then(() => speaker.synthesize(sentence, { signal }))
    const speak = async () => {
      try {
        const [wav] = await Promise.all([sound, last])
        if (signal.aborted || wav.length === 0) return
        await speaker.play(wav, { signal })
        this.#isBroken = false
      } catch (error) {
        if (signal.aborted) return
        // After a problem the rest stays unspoken.
        stopping.abort()
        if (this.#isBroken) return
        this.#isBroken = true
        const reason = error instanceof Error ? error.message : String(error)
        logger.warn({ error: reason }, 'Cannot speak, so answers are text only')
        onProblem(`Cannot speak, so answers are text only: ${reason}`)
      }
    }
    answer.beforeLast = last
    answer.last = speak()
  }
}
