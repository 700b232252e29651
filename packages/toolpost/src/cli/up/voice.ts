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
  status(): VoicePart[]
  close(options?: { drainMs?: number }): Promise<void>
}

interface VoicePackage {
  startVoice(options: object): Promise<VoiceGateway>
}

/** A part of the voice gateway, and how it is in words. */
export interface VoicePart {
  name: string
  state: 'starting' | 'ready' | 'missing'
  text: string
}

/** The voice gateway beside the rest: it takes the same way to the same tools. */
export class Voice {
  readonly #session: Session
  readonly #parts: Parts
  readonly #say: (text: string) => void
  #gateway: VoiceGateway | undefined
  #starting: Promise<void> | undefined
  #problem: string | undefined
  #isReady = false
  #isClosed = false

  constructor(session: Session, parts: Parts, say: (text: string) => void) {
    if (!isInstalled()) throw new UsageError(`--voice needs another package: npm install ${VOICE_PACKAGE}`)
    this.#session = session
    this.#parts = parts
    this.#say = say
  }

  /** Resolves when every part of it is there, or cannot be had. Never rejects. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** What turns speech into text, once it is there. */
  get input(): VoiceInput | undefined {
    return this.#isClosed ? undefined : this.#gateway
  }

  get isStarting(): boolean {
    return !this.#isReady && this.#problem === undefined
  }

  /** Its parts, without those that the rest of the product has as well. */
  get parts(): VoicePart[] {
    if (this.#problem !== undefined) return [{ name: 'voice', state: 'missing', text: this.#problem }]
    if (!this.#isReady) return [{ name: 'voice', state: 'starting', text: 'still starting' }]
    return (this.#gateway?.status() ?? []).filter(({ name }) => name !== 'tools' && name !== 'model')
  }

  /** Lets the answer under way end, for `drainMs` at most. */
  async close(options?: { drainMs?: number }): Promise<void> {
    this.#isClosed = true
    await this.#gateway?.close(options)
  }

  async #start(): Promise<void> {
    const { executor, config, servers, logger } = this.#session
    const { client } = this.#parts
    try {
      const { startVoice } = (await import(VOICE_PACKAGE)) as VoicePackage
      const model = () => this.#parts.model()
      const onNotice = (notice: string) => this.#say(notice)
      this.#gateway = await startVoice({ executor, config, servers, logger, client, model, onNotice })
      if (this.#isClosed) await this.#gateway.close()
      await this.#gateway.ready()
      this.#isReady = true
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error)
    }
  }
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(`${VOICE_PACKAGE}/package.json`)
    return true
  } catch {
    return false
  }
}
