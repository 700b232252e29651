import type { Logger } from 'toolpost'
import { isCodeFence, listed, listItem, SentenceSplitter, speakable } from './speakable.ts'
import type { Speaker } from './speaker.ts'

interface MouthOptions {
  /** Undefined: nothing is spoken. */
  speaker: Speaker | undefined
  logger: Logger
  /** Called when it cannot speak: once, until it can again. */
  onProblem(problem: string): void
}

/** How many sentences are synthesized ahead of time. */
const SENTENCES_AHEAD = 2

/** Speaks one answer after another. */
export class Mouth {
  readonly #options: MouthOptions
  #answer: SpokenAnswer
  #isBroken = false

  constructor(options: MouthOptions) {
    this.#options = options
    this.#answer = this.#begun()
  }

  /** Starts a new answer. */
  begin(): void {
    this.#answer = this.#begun()
  }

  /** The next piece of the answer. */
  add(text: string): void {
    this.#answer.add(text)
  }

  /** A filler while the answer is being made. */
  fill(sentence: string): void {
    this.#answer.say(sentence)
  }

  /** A sentence that must be heard, whatever was interrupted before. */
  insist(sentence: string): void {
    this.resume()
    this.add(`\n${sentence}\n`)
  }

  /** Speaks what follows, even after an interruption. */
  resume(): void {
    if (this.#answer.isStopped) this.begin()
  }

  /** Stops what is being said. Does not affect an answer that has not begun. */
  interrupt(): void {
    if (this.#answer.hasWords) this.shut()
  }

  /** Stops speaking, including the rest of this answer. */
  shut(): void {
    this.#answer.stop()
  }

  /** Resolves when everything was spoken, or interrupted. */
  async finish(): Promise<void> {
    const answer = this.#answer
    await answer.end()
    if (answer.hasSounded && !answer.hasFailed) this.#isBroken = false
  }

  #begun(): SpokenAnswer {
    return new SpokenAnswer(this.#options.speaker, error => {
      if (this.#isBroken) return
      this.#isBroken = true
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.logger.warn({ error: reason }, 'Cannot speak, so answers are text only')
      this.#options.onProblem(`Cannot speak, so answers are text only: ${reason}`)
    })
  }
}

/** Speaks one answer while it is still being written: whole sentences, in order, each synthesized while another plays. */
class SpokenAnswer {
  hasWords = false
  hasSounded = false
  hasFailed = false
  readonly #speaker: Speaker | undefined
  readonly #onProblem: (error: unknown) => void
  readonly #splitter = new SentenceSplitter()
  readonly #stopping = new AbortController()
  /** Sentences not yet being synthesized. */
  readonly #waiting: string[] = []
  /** Sounds being synthesized or ready, in order. */
  readonly #sounds: Promise<Uint8Array>[] = []
  #playing: Promise<void> | undefined
  #inCode = false
  /** List items, spoken as one sentence once the list has ended. */
  #items: string[] = []

  constructor(speaker: Speaker | undefined, onProblem: (error: unknown) => void) {
    this.#speaker = speaker
    this.#onProblem = onProblem
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted && !this.hasFailed
  }

  stop(): void {
    this.#stopping.abort()
  }

  add(token: string): void {
    if (token.trim() !== '') this.hasWords = true
    for (const sentence of this.#splitter.push(token)) this.#line(sentence)
  }

  /** A sentence of our own, after those already complete. */
  say(sentence: string): void {
    this.#endList()
    this.#speak(speakable(sentence))
  }

  /** Resolves when everything was spoken, was interrupted, or cannot be spoken. Never rejects. */
  async end(): Promise<void> {
    for (const sentence of this.#splitter.end()) this.#line(sentence)
    this.#endList()
    const { signal } = this.#stopping
    const stopped = new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#playing, stopped])
    this.hasWords = false
  }

  #line(sentence: string): void {
    const item = this.#inCode ? undefined : listItem(sentence)
    if (item !== undefined) return void this.#items.push(item)
    this.#endList()
    if (isCodeFence(sentence)) this.#inCode = !this.#inCode
    else if (!this.#inCode) this.#speak(speakable(sentence))
  }

  #endList(): void {
    this.#speak(listed(this.#items.splice(0).map(speakable)))
  }

  #speak(sentence: string): void {
    if (!sentence || !this.#speaker || this.#stopping.signal.aborted) return
    this.#waiting.push(sentence)
    this.#prepare(this.#speaker)
    this.#playing ??= this.#play(this.#speaker)
  }

  #prepare(speaker: Speaker): void {
    while (this.#sounds.length < SENTENCES_AHEAD) {
      const sentence = this.#waiting.shift()
      if (sentence === undefined) return
      // Async, so that a speaker that throws synchronously rejects too; handled when its turn comes.
      const sound = (async () => speaker.synthesize(sentence, { signal: this.#stopping.signal }))()
      sound.catch(() => {})
      this.#sounds.push(sound)
    }
  }

  async #play(speaker: Speaker): Promise<void> {
    const { signal } = this.#stopping
    try {
      for (let sound = this.#sounds[0]; sound; sound = this.#sounds[0]) {
        const wav = await sound
        if (signal.aborted) return
        this.#sounds.shift()
        this.#prepare(speaker)
        if (wav.length > 0) this.hasSounded = true
        await speaker.play(wav, { signal })
      }
    } catch (error) {
      if (signal.aborted) return
      // After a problem the rest stays unspoken.
      this.hasFailed = true
      this.stop()
      this.#onProblem(error)
    } finally {
      this.#playing = undefined
    }
  }
}
