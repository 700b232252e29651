import type { VoiceInput } from '../../project/voice.ts'
import type { GatewayContext } from '../context.ts'
import {
  type App,
  aborted,
  failure,
  headerOf,
  json,
  onSignal,
  type RequestContext,
  shuttingDown,
} from '../http.ts'

const AUDIO_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'application/octet-stream']

export function addTranscriptionRoutes(app: App, context: GatewayContext): void {
  app.post('/api/transcriptions', c => transcribe(c, context))
}

/** Speech in, text out. Aborted if the caller disconnects. */
async function transcribe(c: RequestContext, { calls, source }: GatewayContext): Promise<Response> {
  if (calls.isDraining) return shuttingDown()
  const voice = source.voice()
  if (!voice) return failure(404, 'Speech to text is off: start it with toolpost up --voice')
  const [type = ''] = (headerOf(c, 'content-type') ?? '').split(';', 1)
  if (!AUDIO_TYPES.includes(type.trim().toLowerCase()))
    return failure(415, 'Send a WAV file, with content-type: audio/wav')
  const wav = new Uint8Array(await c.req.arrayBuffer())
  if (wav.byteLength === 0) return failure(400, 'The body is empty: send a WAV file')
  // The gateway may have been told to stop while the recording was arriving.
  if (calls.isDraining) return shuttingDown()
  return calls.run(onSignal(c.req.raw.signal), signal => answer(voice, wav, signal))
}

async function answer(voice: VoiceInput, wav: Uint8Array, signal: AbortSignal): Promise<Response> {
  const startedAt = performance.now()
  // A transcription that ignores its signal is not waited for.
  const heard = await Promise.race([voice.transcribe(wav, { signal }), aborted(signal)])
  if (heard === undefined || signal.aborted) return shuttingDown()
  if ('problem' in heard) return failure(422, heard.problem)
  const text = heard.text.trim()
  if (text === '') return failure(422, 'No speech recognized')
  return json({ text, durationMs: Math.round(performance.now() - startedAt) })
}
