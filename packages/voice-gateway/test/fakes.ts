import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import type { ResponseMessage, TranscriptionMessage, VoiceBus } from '../src/messages.ts'
import type { Speaker } from '../src/speech-out/speaker.ts'
import type { Transcriber } from '../src/speech-to-text/transcriber.ts'

/** A transcriber that hears what the test says, one text after the other. */
export function fakeTranscriber(...texts: (string | Error)[]): Transcriber & { heard: number } {
  return {
    name: 'fake',
    heard: 0,
    ready: async () => {},
    async transcribe() {
      const text = texts[this.heard++] ?? ''
      if (text instanceof Error) throw text
      return text
    },
    close: async () => {},
  }
}

/** A bus that keeps what it is told. */
export function recordingBus(): VoiceBus & { heard: TranscriptionMessage[]; answers: ResponseMessage[] } {
  const heard: TranscriptionMessage[] = []
  const answers: ResponseMessage[] = []
  return {
    heard,
    answers,
    transcription: message => void heard.push(message),
    response: message => void answers.push(message),
  }
}

/** A speaker that keeps what it said; with `holds`, each sentence sounds until it is released or interrupted. */
export function recordingSpeaker({ holds = false } = {}): Speaker & {
  said: string[]
  interrupted: string[]
  release(): void
} {
  let release = () => {}
  return {
    name: 'recording',
    said: [],
    interrupted: [],
    release: () => release(),
    synthesize: async sentence => new TextEncoder().encode(sentence),
    async play(wav, { signal }) {
      const sentence = new TextDecoder().decode(wav)
      this.said.push(sentence)
      if (!holds) return
      await new Promise<void>(resolve => {
        release = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      if (signal.aborted) this.interrupted.push(sentence)
    },
  }
}

/** A home of one lamp: a tool with sentences, that counts what it did. */
export function lampExecutor(): { executor: ToolExecutor; done: string[] } {
  const done: string[] = []
  const tools = new ToolManager()
  tools.addCustomTool(
    defineTool<{ action: string }>({
      name: 'lamp',
      description: 'Switches the lamp',
      schema: {
        type: 'object',
        properties: { action: { type: 'string', enum: ['on', 'off'] } },
        required: ['action'],
      },
      sentences: ['turn {action:on|off} [the] lamp', 'turn [the] lamp {action:on|off}'],
      handler: ({ action }) => {
        done.push(action)
        return `The lamp is ${action}.`
      },
    }),
  )
  return { executor: new ToolExecutor(tools), done }
}

/** A second of a tone that is loud enough to be looked at: as raw PCM. */
export function tonePcm(seconds = 1): Uint8Array {
  const samples = Int16Array.from({ length: seconds * 16_000 }, (_, at) => 8_000 * Math.sin(at / 8))
  return new Uint8Array(samples.buffer)
}
