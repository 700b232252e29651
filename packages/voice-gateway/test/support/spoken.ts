// Speech for tests, made by espeak-ng and sox.
import { execFileSync } from 'node:child_process'
import { readAudio, SAMPLE_RATE } from '../../src/audio/wav.ts'

const mostBytes = 100_000_000

/** A sentence as espeak-ng writes it to a pipe: 22.05 kHz, with sizes in the header that are wrong. */
export function spokenWav(sentence: string): Uint8Array {
  return execFileSync('espeak-ng', ['-v', 'en-us', '-s', '160', '--stdout', sentence], {
    maxBuffer: mostBytes,
  })
}

export function spoken(sentence: string): Promise<Float32Array> {
  return readAudio({ wav: spokenWav(sentence) })
}

/** A WAV file as sox converts it: the arguments stand before and after the file that is written. */
export function converted(
  wav: Uint8Array,
  format: readonly string[],
  effects: readonly string[] = [],
): Uint8Array {
  const args = ['-V1', '-t', 'wav', '-', ...format, '-t', 'wav', '-', ...effects]
  return execFileSync('sox', args, { input: wav, maxBuffer: mostBytes, stdio: ['pipe', 'pipe', 'ignore'] })
}

export function silence(seconds: number): Float32Array {
  return new Float32Array(Math.round(seconds * SAMPLE_RATE))
}

/** Sound made of a function of the time in seconds. */
export function sound(seconds: number, wave: (time: number) => number): Float32Array {
  return silence(seconds).map((_, index) => wave(index / SAMPLE_RATE))
}

export function tone(hertz: number, amplitude: number): (time: number) => number {
  return time => amplitude * Math.sin(2 * Math.PI * hertz * time)
}

/** White noise, the same every time. */
export function noise(amplitude: number): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return amplitude * ((state / 0x7fffffff) * 2 - 1)
  }
}

export function joined(...parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}
