import { readFile } from 'node:fs/promises'
import { runProgram } from '../programs/run-program.ts'
import { withTemporaryWav } from '../programs/temporary-file.ts'
import { SpeakerError } from './speaker.ts'
import { withTrueSizes } from './wav-file.ts'

/** Synthesizes speech. */
export interface Voice {
  readonly name: string
  /** A WAV file; empty if there was nothing to say. Rejects with a SpeakerError, or when the signal is aborted. */
  synthesize(text: string, options: { signal: AbortSignal }): Promise<Uint8Array>
}

export interface VoiceOptions {
  /** The program's path, or its name on the PATH. */
  readonly program?: string | undefined
  /** `en`, `de`, `en-us`: only for espeak-ng; the language of a piper model or a macOS voice is fixed. */
  readonly language?: string | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly deadlineMs?: number | undefined
}

const SYNTHESIS_DEADLINE_MS = 10_000
const NOTHING = new Uint8Array()

export function espeakVoice(options: VoiceOptions = {}): Voice {
  const language = options.language === undefined ? [] : ['-v', options.language]
  const args = ['-b', '1', '--stdin', '--stdout', ...language]
  return {
    name: 'espeak-ng',
    synthesize: async (text, { signal }) =>
      finished(await run({ name: 'espeak-ng', options, args, text, signal })),
  }
}

/** `model` is an .onnx file with its .onnx.json next to it. */
export function piperVoice(model: string, options: VoiceOptions = {}): Voice {
  const args = ['--model', model, '--output_file']
  return { name: 'piper', synthesize: intoFile({ name: 'piper', options, args }) }
}

/** The macOS voice. */
export function sayVoice(options: VoiceOptions = {}): Voice {
  const args = ['--file-format=WAVE', '--data-format=LEI16@22050', '-f', '-', '-o']
  return { name: 'say', synthesize: intoFile({ name: 'say', options, args }) }
}

interface Command {
  readonly name: string
  readonly options: VoiceOptions
  readonly args: readonly string[]
}

/** For programs that write to a file, whose path is the last argument. */
function intoFile(command: Command): Voice['synthesize'] {
  return (text, { signal }) =>
    withTemporaryWav(async path => {
      await run({ ...command, args: [...command.args, path], text, signal })
      return finished(await readFile(path).catch(() => NOTHING))
    })
}

function run(command: Command & { text: string; signal: AbortSignal }): Promise<Buffer> {
  const { name, options, args, text, signal } = command
  return runProgram({
    program: options.program ?? name,
    args,
    input: `${plain(text)}\n`,
    signal,
    deadlineMs: options.deadlineMs ?? SYNTHESIS_DEADLINE_MS,
    environment: options.environment,
    Failure: SpeakerError,
  })
}

/** On one line, and without `[[`, which begins a command for espeak-ng and say. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').replace(/\[(?=\[)/g, '[ ')
}

function finished(wav: Uint8Array): Uint8Array {
  return wav.length === 0 ? NOTHING : withTrueSizes(wav)
}
