import { SentenceSplitter } from './sentences.ts'
import { isCodeFence, listed, listItem, speakable } from './speakable.ts'
import type { Speaker } from './speaker.ts'

export interface SpokenAnswerOptions {
  /** Undefined: nothing is spoken. */
  readonly speaker: Speaker | undefined
  /** Aborting it stops the sound immediately and drops the rest. */
  readonly signal: AbortSignal
  /** Called at most once: after a problem the rest stays unspoken. */
  onProblem(error: unknown): void
}

/** How many sentences are synthesized ahead of time. */
const SENTENCES_AHEAD = 2

/** Speaks one answer while it is still being written: whole sentences, in order, each synthesized while another plays. */
export class SpokenAnswer {
  /** Whether any of it has been played or is playing now. */
  hasBegun = false
  readonly #speaker: Speaker | undefined
  readonly #onProblem: (error: unknown) => void
  readonly #splitter = new SentenceSplitter()
  readonly #broken = new AbortController()
  readonly #signal: AbortSignal
  readonly #interrupted: Promise<void>
  /** Sentences not yet being synthesized. */
  #waiting: string[] = []
  /** Sounds being synthesized or ready, in order. */
  #sounds: Promise<Uint8Array>[] = []
  #playing: Promise<void> | undefined
  #inCode = false
  /** List items, spoken as one sentence once the list has ended. */
  #items: string[] = []

  constructor({ speaker, signal, onProblem }: SpokenAnswerOptions) {
    this.#speaker = speaker
    this.#onProblem = onProblem
    this.#signal = AbortSignal.any([signal, this.#broken.signal])
    this.#interrupted = new Promise(resolve => {
      if (this.#signal.aborted) resolve()
      this.#signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** The next piece of the answer. */
  add(token: string): void {
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
    await Promise.race([this.#playing, this.#interrupted])
  }

  #line(sentence: string): void {
    const item = this.#inCode ? undefined : listItem(sentence)
    if (item !== undefined) {
      this.#items.push(item)
      return
    }
    this.#endList()
    if (isCodeFence(sentence)) this.#inCode = !this.#inCode
    else if (!this.#inCode) this.#speak(speakable(sentence))
  }

  #endList(): void {
    this.#speak(listed(this.#items.splice(0).map(speakable)))
  }

  #speak(sentence: string): void {
    if (!sentence || !this.#speaker || this.#signal.aborted) return
    this.#waiting.push(sentence)
    this.#prepare(this.#speaker)
    this.#playing ??= this.#play(this.#speaker)
  }

  #prepare(speaker: Speaker): void {
    while (this.#sounds.length < SENTENCES_AHEAD) {
      const sentence = this.#waiting.shift()
      if (sentence === undefined) return
      const sound = synthesize(speaker, sentence, this.#signal)
      // Handled when its turn comes.
      sound.catch(() => {})
      this.#sounds.push(sound)
    }
  }

  async #play(speaker: Speaker): Promise<void> {
    try {
      for (let sound = this.#sounds[0]; sound; sound = this.#sounds[0]) {
        const wav = await sound
        if (this.#signal.aborted) return
        this.#sounds.shift()
        this.#prepare(speaker)
        if (wav.length > 0) this.hasBegun = true
        await speaker.play(wav, { signal: this.#signal })
      }
    } catch (error) {
      this.#giveUp(error)
    } finally {
      this.#playing = undefined
    }
  }

  #giveUp(error: unknown): void {
    if (this.#signal.aborted) return
    this.#broken.abort()
    this.#waiting = []
    this.#sounds = []
    this.#onProblem(error)
  }
}

/** Async, so that a speaker that throws synchronously rejects too. */
async function synthesize(speaker: Speaker, sentence: string, signal: AbortSignal): Promise<Uint8Array> {
  return speaker.synthesize(sentence, { signal })
}
