import { sentencesOf } from '../voice/sentences.ts'
import { type Answer, spokenText } from './chat-answer.ts'
import { Store, stored } from './store.ts'

interface SpeakingState {
  /** Whether the browser has a voice. */
  available: boolean
  muted: boolean
}

const KEY = 'toolpost.muted'

/** Reads answers aloud with the browser's voice, if it has one. */
class Speaking extends Store<SpeakingState> {
  #isUnlocked = false

  constructor() {
    super({ available: false, muted: stored(KEY) === 'yes' })
  }

  /** For the lifetime of the page: voices may load late, and leaving the page must stop the speech. */
  follow(): void {
    const synthesis = synthesisOf()
    if (!synthesis) return
    const look = () => this.update({ available: synthesis.getVoices().length > 0 })
    look()
    synthesis.addEventListener?.('voiceschanged', look)
    addEventListener('pagehide', () => this.stop())
  }

  say(answer: Answer): void {
    const { available, muted } = this.get()
    if (!available || muted) return
    for (const sentence of sentencesOf(spokenText(answer)))
      synthesisOf()?.speak(new SpeechSynthesisUtterance(sentence))
  }

  stop(): void {
    if (this.get().available) synthesisOf()?.cancel()
  }

  /** Must be called during a user gesture: some browsers let a page speak later only if it spoke then. */
  unlock(): void {
    const { available, muted } = this.get()
    if (!available || muted || this.#isUnlocked) return
    this.#isUnlocked = true
    synthesisOf()?.speak(new SpeechSynthesisUtterance(''))
  }

  setMuted(muted: boolean): void {
    localStorage.setItem(KEY, muted ? 'yes' : 'no')
    this.update({ muted })
    if (muted) this.stop()
  }
}

function synthesisOf(): SpeechSynthesis | undefined {
  return globalThis.speechSynthesis as SpeechSynthesis | undefined
}

export const speaking = new Speaking()
