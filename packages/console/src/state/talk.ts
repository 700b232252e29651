import { transcribe } from '../api/gateway-api.ts'
import { problemOf } from '../voice/problem.ts'
import { type Recording, type RecordOptions, record } from '../voice/recorder.ts'
import { toWav } from '../voice/to-wav.ts'
import { chat } from './chat.ts'
import { speaking } from './speaking.ts'
import { Store } from './store.ts'

/** `opening` until the microphone is open, which may need the user's permission. */
export interface TalkState {
  phase: 'idle' | 'opening' | 'recording' | 'transcribing'
  /** When the recording began, in milliseconds since 1970. */
  startedAt: number
  /** Why the last attempt produced no question, in one sentence. */
  notice: string | undefined
}

/** What `Talk` is built on; replaced in tests. */
export interface TalkParts {
  record(options: RecordOptions): Promise<Recording>
  toWav(recorded: Blob): Promise<Uint8Array<ArrayBuffer>>
  transcribe(wav: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<string>
  onWords(words: string): void
}

/** Anything shorter was a click. */
export const MIN_RECORDING_MS = 300
export const MAX_RECORDING_MS = 60_000
/** The last sound is still being processed when the button is released. */
const TAIL_MS = 200

const HINT = 'Hold the button while you speak.'
const DISCARDED = 'Recording discarded.'
const LOST = 'The microphone was disconnected.'

/** Hold to talk: `press` records, `release` sends, `cancel` discards. At most one recording at a time. */
export class Talk extends Store<TalkState> {
  readonly #parts: TalkParts
  #attempt = new AbortController()
  #recording: Recording | undefined
  #limit: ReturnType<typeof setTimeout> | undefined

  constructor(parts: TalkParts) {
    super({ phase: 'idle', startedAt: 0, notice: undefined })
    this.#parts = parts
  }

  async press(): Promise<void> {
    if (this.get().phase !== 'idle') return
    const attempt = new AbortController()
    this.#attempt = attempt
    this.set({ phase: 'opening', startedAt: 0, notice: undefined })
    try {
      this.#begin(await this.#parts.record({ onLost: () => this.#discard(LOST) }), attempt)
    } catch (error) {
      // Even if the button was released meanwhile: a refused permission is worth reporting.
      if (this.#attempt === attempt) this.#discard(problemOf(error))
    }
  }

  release(): void {
    const { phase, startedAt } = this.get()
    if (phase === 'opening') this.#discard(HINT)
    if (phase !== 'recording') return
    if (Date.now() - startedAt < MIN_RECORDING_MS) this.#discard(HINT)
    else void this.#send()
  }

  cancel(): void {
    const { phase } = this.get()
    if (phase !== 'idle') this.#discard(phase === 'opening' ? HINT : DISCARDED)
  }

  /** The notice about the last attempt is out of date. */
  clearNotice(): void {
    this.update({ notice: undefined })
  }

  /** How loud it is now, from 0 to 1. */
  level(): number {
    return this.#recording?.level() ?? 0
  }

  #begin(recording: Recording, { signal }: AbortController): void {
    if (signal.aborted) return recording.discard()
    this.#recording = recording
    this.update({ phase: 'recording', startedAt: Date.now() })
    this.#limit = setTimeout(() => void this.#send(), MAX_RECORDING_MS)
  }

  async #send(): Promise<void> {
    const { signal } = this.#attempt
    clearTimeout(this.#limit)
    this.update({ phase: 'transcribing' })
    try {
      const words = await this.#transcribe(signal)
      if (words === undefined) return
      this.#recording = undefined
      this.update({ phase: 'idle' })
      this.#parts.onWords(words)
    } catch (error) {
      if (!signal.aborted) this.#discard(problemOf(error))
    }
  }

  /** The words; `undefined` if the attempt was cancelled. */
  async #transcribe(signal: AbortSignal): Promise<string | undefined> {
    await new Promise(resolve => setTimeout(resolve, TAIL_MS))
    if (signal.aborted) return undefined
    const recorded = await this.#recording?.finish()
    if (recorded === undefined || signal.aborted) return undefined
    const wav = await this.#parts.toWav(recorded)
    const words = signal.aborted ? undefined : await this.#parts.transcribe(wav, signal)
    return signal.aborted ? undefined : words
  }

  #discard(notice: string): void {
    clearTimeout(this.#limit)
    this.#attempt.abort()
    this.#recording?.discard()
    this.#recording = undefined
    this.set({ phase: 'idle', startedAt: 0, notice })
  }
}

async function askAloud(words: string): Promise<void> {
  const answer = await chat.ask(words)
  if (answer) speaking.say(answer)
}

export const talk = new Talk({ record, toWav, transcribe, onWords: words => void askAloud(words) })
