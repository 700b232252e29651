// Speech for tests, made by espeak-ng and sox.
import { execFileSync } from 'node:child_process'
import { readAudio, SAMPLE_RATE } from '../../src/audio/wav.ts'

/** A sentence as espeak-ng writes it to a pipe: 22.05 kHz, with sizes in the header that are wrong. */
export function spoken(sentence: string): Promise<Float32Array> {
  const args = ['-v', 'en-us', '-s', '160', '--stdout', sentence]
  return readAudio({ wav: execFileSync('espeak-ng', args, { maxBuffer: 100_000_000 }) })
}

/** A WAV file as sox converts it. */
export function converted(wav: Uint8Array, format: readonly string[]): Uint8Array {
  const args = ['-V1', '-t', 'wav', '-', ...format, '-t', 'wav', '-']
  return execFileSync('sox', args, { input: wav, stdio: ['pipe', 'pipe', 'ignore'] })
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
  return Float32Array.from(parts.flatMap(part => [...part]))
}
