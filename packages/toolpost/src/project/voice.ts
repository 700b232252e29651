import { installedFile } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CloseOptions, Part } from './configuration.ts'

export interface VoiceInput {
  /** Turns speech into text. Resolves to the text, or to why there is none; never rejects. */
  transcribe(
    wav: Uint8Array,
    options: { signal: AbortSignal },
  ): Promise<{ text: string } | { problem: string }>
}

export interface VoicePart {
  name: string
  state: 'starting' | 'ready' | 'missing'
  text: string
}

/** What a project needs from the voice gateway. */
export interface VoiceGateway extends VoiceInput {
  /** Resolves when every part is ready or missing; never rejects. */
  ready(): Promise<unknown>
  status(): VoicePart[]
  /** Lets the current answer finish, for at most `drainMs`. */
  close(options?: CloseOptions): Promise<void>
}

interface VoiceEvents {
  onChange(): void
  onNotice(notice: string): void
}

/** Starts the voice gateway next to the rest; it uses the same executor and tools. */
export type StartVoice<Project> = (project: Project, events: VoiceEvents) => Promise<VoiceGateway>

/** A separate package, which Toolpost knows by name only. */
const VOICE_PACKAGE = 'voice-gateway'

/** The command to install the voice gateway; `undefined` if it is installed. */
export function missingVoice(): string | undefined {
  return installedFile(`${VOICE_PACKAGE}/package.json`) ? undefined : `npm install ${VOICE_PACKAGE}`
}

export async function startInstalledVoice<Project>(
  project: Project,
  events: VoiceEvents,
): Promise<VoiceGateway> {
  const { startVoice } = await import(VOICE_PACKAGE)
  return startVoice({ project, ...events })
}

/** The voice gateway of a project, once it is started. */
export class Voice implements Part {
  readonly #open: () => Promise<VoiceGateway>
  readonly #onChange: () => void
  #starting: Promise<void> | undefined
  /** What there is to say instead of its parts. */
  #state: VoicePart | undefined = { name: 'voice', state: 'starting', text: 'still starting' }
  #gateway: VoiceGateway | undefined
  input: VoiceInput | undefined
  #isClosed = false

  constructor(open: () => Promise<VoiceGateway>, onChange: () => void) {
    this.#open = open
    this.#onChange = onChange
  }

  /** Resolves when every part is ready or missing. Never rejects. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    try {
      this.#gateway = await this.#open()
      if (this.#isClosed) return await this.#gateway.close()
      this.input = this.#gateway
      this.#onChange()
      await this.#gateway.ready()
      this.#state = undefined
    } catch (error) {
      this.#state = { name: 'voice', state: 'missing', text: describeThrown(error) }
    }
    this.#onChange()
  }

  /** Its parts, except those that the rest of the project reports as well. */
  status(): VoicePart[] {
    const parts = this.#state ? [this.#state] : (this.#gateway?.status() ?? [])
    return parts.filter(({ name }) => name !== 'tools' && name !== 'model')
  }

  async close(options?: CloseOptions): Promise<void> {
    this.#isClosed = true
    this.input = undefined
    await this.#gateway?.close(options)
  }
}
