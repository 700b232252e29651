import { readFile } from 'node:fs/promises'
import { findChunks, isWav, wavFile } from '../audio/wav.ts'
import { runProgram, withTemporaryWav } from '../programs/run-program.ts'
import { SpeakerError } from './speaker.ts'

/** Synthesizes speech. */
export interface Voice {
  readonly name: 'espeak-ng' | 'piper' | 'say'
  /** A WAV file; empty if there was nothing to say. Rejects with a SpeakerError, or when the signal is aborted. */
  synthesize(text: string, options: { signal: AbortSignal }): Promise<Uint8Array>
}

export interface VoiceOptions {
  /** The program's path. */
  readonly program: string
  /** The .onnx file of a piper voice, with its .onnx.json next to it. */
  readonly piperModel?: string | undefined
  /** `en`, `de`, `en-us`: only for espeak-ng; the language of a piper model or a macOS voice is fixed. */
  readonly language?: string | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
}

const SYNTHESIS_DEADLINE_MS = 10_000

/** The voice of an installed program. espeak-ng writes to stdout, the others to a file. */
export function makeVoice(name: Voice['name'], options: VoiceOptions): Voice {
  const { program, piperModel = '', language, environment } = options
  const args = {
    'espeak-ng': ['-b', '1', '--stdin', '--stdout', ...(language === undefined ? [] : ['-v', language])],
    piper: ['--model', piperModel, '--output_file'],
    say: ['--file-format=WAVE', '--data-format=LEI16@22050', '-f', '-', '-o'],
  }[name]
  const run = (text: string, signal: AbortSignal, more: readonly string[] = []) =>
    runProgram({
      program,
      args: [...args, ...more],
      // On one line, and without `[[`, which begins a command for espeak-ng and say.
      input: `${text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').replace(/\[(?=\[)/g, '[ ')}\n`,
      signal,
      deadlineMs: SYNTHESIS_DEADLINE_MS,
      environment,
      Failure: SpeakerError,
    })
  return {
    name,
    async synthesize(text, { signal }) {
      if (name === 'espeak-ng') return withTrueSizes(await run(text, signal))
      return withTemporaryWav(async path => {
        await run(text, signal, [path])
        return withTrueSizes(await readFile(path).catch(() => Buffer.alloc(0)))
      })
    },
  }
}

/** The same sound with correct sizes in the header: a program that writes to a pipe does not know them. */
function withTrueSizes(wav: Buffer): Uint8Array {
  if (wav.length === 0) return wav
  const { format, data } = isWav(wav) ? findChunks(wav) : {}
  if (!format || !data) throw new SpeakerError('The voice did not produce a WAV file.')
  return wavFile(format, data)
}
