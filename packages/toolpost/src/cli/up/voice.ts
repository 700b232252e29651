import { createRequire } from 'node:module'
import type { VoiceInput } from '../../gateway/index.ts'
import { UsageError } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import type { Parts } from './parts.ts'

/** A package of its own, that Toolpost knows by its name alone. */
const VOICE_PACKAGE = 'voice-gateway'

/** What of the voice gateway is used here. */
interface VoiceGateway extends VoiceInput {
  ready(): Promise<unknown>
  status(): { name: string; state: 'starting' | 'ready' | 'missing'; text: string }[]
  close(): Promise<void>
}

interface VoicePackage {
  startVoice(options: object): Promise<VoiceGateway>
}

/** How the voice gateway is, in words. */
export interface VoiceState {
  state: 'starting' | 'ready' | 'missing'
  text: string
}

/** The voice gateway beside the rest: it takes the same way to the same tools. */
export class Voice {
  readonly #session: Session
  readonly #parts: Parts
  #gateway: VoiceGateway | undefined
  #starting: Promise<void> | undefined
  #problem: string | undefined
  #isReady = false

  constructor(session: Session, parts: Parts) {
    if (!isInstalled()) throw new UsageError(`--voice needs another package: npm install ${VOICE_PACKAGE}`)
    this.#session = session
    this.#parts = parts
  }

  /** Resolves when every part of it is there, or cannot be had. Never rejects. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** What turns speech into text, once it is there. */
  get input(): VoiceInput | undefined {
    return this.#gateway
  }

  get state(): VoiceState {
    if (this.#problem !== undefined) return { state: 'missing', text: this.#problem }
    const parts = this.#gateway?.status() ?? []
    const text = parts.filter(isOwn).map(({ name, text }) => `${name}: ${text}`)
    return this.#isReady
      ? { state: 'ready', text: text.join(', ') }
      : { state: 'starting', text: 'still starting' }
  }

  async close(): Promise<void> {
    await this.#gateway?.close()
  }

  async #start(): Promise<void> {
    const { executor, config, servers, logger } = this.#session
    const { client } = this.#parts
    try {
      const { startVoice } = (await import(VOICE_PACKAGE)) as VoicePackage
      const model = () => this.#parts.model()
      this.#gateway = await startVoice({ executor, config, servers, logger, client, model })
      await this.#gateway.ready()
      this.#isReady = true
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error)
    }
  }
}

/** Tools and model have lines of their own. */
function isOwn({ name }: { name: string }): boolean {
  return name !== 'tools' && name !== 'model'
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(`${VOICE_PACKAGE}/package.json`)
    return true
  } catch {
    return false
  }
}
