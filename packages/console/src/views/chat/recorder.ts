/** The input rate of speech models. */
const SAMPLE_RATE = 16_000
const HEADER_BYTES = 44

/** A recording in progress. */
export interface Recording {
  /** Closes the microphone; the whole recording as a 16 kHz, mono, 16-bit WAV file. */
  finish(): Promise<Uint8Array<ArrayBuffer>>
  /** Closes the microphone and drops the recording. */
  discard(): void
}

/** Whether this browser can record here: browsers open a microphone only over https or on the same machine. */
export function canRecord(): boolean {
  const { mediaDevices } = navigator as Partial<Navigator>
  return isSecureContext && mediaDevices?.getUserMedia !== undefined && 'MediaRecorder' in globalThis
}

/** Resolves once recording. Rejects with a text for a person if no microphone is available. */
export async function record(onLost: () => void): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } }).catch(explain)
  const recorder = new MediaRecorder(stream)
  const pieces: Blob[] = []
  recorder.ondataavailable = ({ data }) => void pieces.push(data)
  const stopped = new Promise(resolve => recorder.addEventListener('stop', resolve, { once: true }))
  const end = () => {
    if (recorder.state !== 'inactive') recorder.stop()
    for (const track of stream.getTracks()) track.stop()
  }
  for (const track of stream.getTracks()) track.onended = onLost
  recorder.start()
  return {
    finish: async () => {
      end()
      await stopped
      return toWav(new Blob(pieces, { type: recorder.mimeType }))
    },
    discard: end,
  }
}

async function toWav(recorded: Blob): Promise<Uint8Array<ArrayBuffer>> {
  // Decoding resamples to the context's rate.
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE)
  const decoded = await context.decodeAudioData(await recorded.arrayBuffer()).catch(explain)
  const channels = Array.from({ length: decoded.numberOfChannels }, (_, at) => decoded.getChannelData(at))
  const mean = (at: number) =>
    channels.reduce((sum, channel) => sum + (channel[at] ?? 0), 0) / channels.length
  return wavOf(Float32Array.from({ length: decoded.length }, (_, at) => mean(at)))
}

/** A mono WAV file with 16-bit samples; what is too loud is cut. */
function wavOf(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const dataBytes = samples.length * 2
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes))
  const text = (at: number, letters: string) => {
    for (const [offset, letter] of [...letters].entries()) view.setUint8(at + offset, letter.charCodeAt(0))
  }
  text(0, 'RIFF')
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true) // size of the format chunk
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // channels
  view.setUint32(24, SAMPLE_RATE, true)
  view.setUint32(28, SAMPLE_RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, dataBytes, true)
  for (const [at, sample] of samples.entries())
    view.setInt16(HEADER_BYTES + at * 2, Math.round(Math.max(-1, Math.min(1, sample || 0)) * 0x7fff), true)
  return new Uint8Array(view.buffer)
}

const PROBLEMS: Record<string, string> = {
  NotAllowedError: "The microphone is blocked for this page: allow it in the browser's address bar.",
  SecurityError: 'The browser does not allow the microphone on this page.',
  NotFoundError: 'No microphone was found: connect one and try again.',
  OverconstrainedError: 'No microphone was found: connect one and try again.',
  NotReadableError: 'The microphone is not working, or another program is using it.',
  EncodingError: 'Nothing was recorded: speak again.',
}

/** Says what a person can do about it. */
function explain(error: unknown): never {
  if (!(error instanceof DOMException)) throw error
  throw new Error(PROBLEMS[error.name] ?? `Recording failed: ${error.message}`)
}
