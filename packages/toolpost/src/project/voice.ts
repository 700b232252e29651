import { installedFile } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import type { CloseOptions, ProjectContext } from './configuration.ts'

type Transcription = { text: string } | { problem: string }

export interface VoiceInput {
  /** Turns speech into text. Resolves to the text, or to why there is none; never rejects. */
  transcribe(wav: Uint8Array, options: { signal: AbortSignal }): Promise<Transcription>
}

export type VoicePart = { name: string; state: 'starting' | 'ready' | 'missing'; text: string }

export interface VoiceGateway extends VoiceInput {
  /** Resolves when every part is ready or missing; never rejects. */
  ready(): Promise<unknown>
  status(): VoicePart[]
  /** Lets the current answer finish, for at most `drainMs`. */
  close(options?: CloseOptions): Promise<void>
}

type VoiceEvents = { onChange(): void; onNotice(notice: string): void }
export type StartVoice<Project> = (project: Project, events: VoiceEvents) => Promise<VoiceGateway>

const VOICE_PACKAGE = 'voice-gateway'

/** The command to install the voice gateway; `undefined` if it is installed. */
export function missingVoice(): string | undefined {
  return installedFile(`${VOICE_PACKAGE}/package.json`) ? undefined : `npm install ${VOICE_PACKAGE}`
}

export const startInstalledVoice: StartVoice<unknown> = async (project, events) =>
  (await import(VOICE_PACKAGE)).startVoice({ project, ...events })

/** The voice gateway of a project, if it has one: started when it is first needed. */
export function projectVoice({ options, say, tell }: ProjectContext, project: () => unknown) {
  const { voice: open } = options
  let gateway: VoiceGateway | undefined
  let isClosed = false
  let starting: Promise<void> | undefined
  /** What there is to say instead of its parts. */
  let state: VoicePart | undefined = { name: 'voice', state: 'starting', text: 'still starting' }
  /** Its parts, except those that the rest of the project reports as well. */
  const status = (): VoicePart[] => {
    if (!open) return []
    return state
      ? [state]
      : (gateway?.status() ?? []).filter(({ name }) => !['tools', 'model'].includes(name))
  }
  const onChange = () => tell('voice', status())
  const begin = async (start: StartVoice<never>) => {
    try {
      gateway = await start(project() as never, { onChange, onNotice: say })
      if (isClosed) return await gateway.close()
      onChange()
      await gateway.ready()
      state = undefined
    } catch (error) {
      state = { name: 'voice', state: 'missing', text: describeThrown(error) }
    }
    onChange()
  }
  return {
    status,
    input: (): VoiceInput | undefined => (isClosed ? undefined : gateway),
    /** Resolves when every part is ready or missing. Never rejects. */
    async start(): Promise<void> {
      if (open) starting ??= begin(open)
      await starting
    },
    async close(options?: CloseOptions): Promise<void> {
      isClosed = true
      await gateway?.close(options)
    },
  }
}
