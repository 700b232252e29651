import { levelOf } from './level.ts'

/** A recording in progress. */
export interface Recording {
  /** How loud it is now, from 0 to 1; stays 0 if the browser cannot tell. */
  level(): number
  /** Closes the microphone. Resolves with the whole recording, as the browser encodes it. */
  finish(): Promise<Blob>
  /** Closes the microphone and drops the recording. */
  discard(): void
}

export interface RecordOptions {
  /** The microphone was unplugged, or its permission was withdrawn. */
  onLost: () => void
}

/** Whether this browser can record here: browsers open a microphone only over https or on the same machine. */
export function canRecord(): boolean {
  const { mediaDevices } = navigator as Partial<Navigator>
  return isSecureContext && mediaDevices?.getUserMedia !== undefined && 'MediaRecorder' in globalThis
}

/** Resolves once recording. Rejects with the browser's DOMException if no microphone is available. */
export async function record({ onLost }: RecordOptions): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
  const close = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  try {
    return await recordStream(stream, { onLost, close })
  } catch (error) {
    close()
    throw error
  }
}

/**
 * MediaRecorder, not an AudioWorklet: a finger held down is not a user activation yet, and without one an
 * AudioContext stays suspended. The meter uses one anyway: it may stay at 0.
 */
async function recordStream(
  stream: MediaStream,
  { onLost, close }: RecordOptions & { close: () => void },
): Promise<Recording> {
  const recorder = new MediaRecorder(stream)
  const pieces: Blob[] = []
  recorder.ondataavailable = ({ data }) => void pieces.push(data)
  const stopped = happened(recorder, 'stop')
  const started = happened(recorder, 'start')
  recorder.start()
  await started
  const meter = meterOf(stream)
  for (const track of stream.getTracks()) track.onended = onLost
  const end = () => {
    if (recorder.state !== 'inactive') recorder.stop()
    meter.close()
  }
  return {
    level: meter.level,
    finish: async () => {
      end()
      await stopped
      close()
      return new Blob(pieces, { type: recorder.mimeType })
    },
    discard: () => {
      end()
      close()
    },
  }
}

function happened(recorder: MediaRecorder, event: 'start' | 'stop'): Promise<void> {
  return new Promise((resolve, reject) => {
    recorder.addEventListener(event, () => resolve(), { once: true })
    recorder.addEventListener('error', () => reject(new Error('The browser could not record')), {
      once: true,
    })
  })
}

/** Firefox refuses if the sample rates of microphone and speakers differ; then there is no meter. */
function meterOf(stream: MediaStream): Pick<Recording, 'level'> & { close(): void } {
  const context = new AudioContext()
  const close = () => void context.close().catch(() => {})
  try {
    return { level: levelMeter(context, stream), close }
  } catch {
    return { level: () => 0, close }
  }
}

function levelMeter(context: AudioContext, stream: MediaStream): () => number {
  const analyser = new AnalyserNode(context, { fftSize: 1_024 })
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  return () => {
    analyser.getFloatTimeDomainData(samples)
    return levelOf(samples)
  }
}
