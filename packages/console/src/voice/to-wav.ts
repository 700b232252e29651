/** The input rate of speech models. */
const SAMPLE_RATE = 16_000
const HEADER_BYTES = 44
const BYTES_PER_SAMPLE = 2

/** The browser's recording as a 16 kHz, mono, 16-bit WAV file. */
export async function toWav(recorded: Blob): Promise<Uint8Array<ArrayBuffer>> {
  // Decoding resamples to the context's rate.
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE)
  const decoded = await context.decodeAudioData(await recorded.arrayBuffer())
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at))
  return wavOf(mixed(channels), decoded.sampleRate)
}

/** The mean of all channels. */
export function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(), ...others] = channels
  if (others.length === 0) return first
  const mix = first.slice()
  for (const channel of others)
    for (const [at, sample] of channel.entries()) mix[at] = (mix[at] ?? 0) + sample
  return mix.map(sample => sample / channels.length)
}

/** A mono WAV file with 16-bit samples. */
export function wavOf(samples: Float32Array, sampleRate: number): Uint8Array<ArrayBuffer> {
  const dataBytes = samples.length * BYTES_PER_SAMPLE
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes))
  writeHeader(view, sampleRate, dataBytes)
  for (const [at, sample] of samples.entries())
    view.setInt16(HEADER_BYTES + at * BYTES_PER_SAMPLE, toInt16(sample), true)
  return new Uint8Array(view.buffer)
}

function writeHeader(view: DataView, sampleRate: number, dataBytes: number): void {
  writeText(view, 0, 'RIFF')
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true)
  writeText(view, 8, 'WAVEfmt ')
  view.setUint32(16, 16, true) // size of the format chunk
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // channels
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true)
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true)
  writeText(view, 36, 'data')
  view.setUint32(40, dataBytes, true)
}

function writeText(view: DataView, at: number, text: string): void {
  for (const [offset, letter] of [...text].entries()) view.setUint8(at + offset, letter.charCodeAt(0))
}

function toInt16(sample: number): number {
  return Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff)
}
