import type { Context, Hono } from 'hono'
import type { VoiceInput } from '../../project/voice.ts'
import { onSignal } from '../caller.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { aborted } from '../http/aborted.ts'
import { failure, json, shuttingDown } from '../http/answers.ts'
import { readBytes } from '../http/read-body.ts'
import { MAX_AUDIO_BYTES } from '../limits.ts'

const AUDIO_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'application/octet-stream']

export function addTranscriptionRoutes(app: Hono, context: GatewayContext): void {
  app.post('/api/transcriptions', c => transcribe(c, context))
}

/** Speech in, text out. Aborted if the caller disconnects. */
async function transcribe(c: Context, context: GatewayContext): Promise<Response> {
  const request = c.req.raw
  if (context.calls.isDraining) return shuttingDown()
  const voice = context.source.voice()
  if (!voice) return failure(404, 'Speech to text is off: start it with toolpost up --voice')
  const wav = await readAudio(request)
  if (wav instanceof Response) return wav
  // The gateway may have been told to stop while the recording was arriving.
  if (context.calls.isDraining) return shuttingDown()
  return context.calls.run(onSignal(request.signal), signal => answer(voice, wav, signal))
}

async function readAudio(request: Request): Promise<Uint8Array | Response> {
  if (!AUDIO_TYPES.includes(typeOf(request)))
    return failure(415, 'Send a WAV file, with content-type: audio/wav')
  const wav = await readBytes(request, MAX_AUDIO_BYTES)
  if (wav instanceof Response) return wav
  return wav.byteLength > 0 ? wav : failure(400, 'The body is empty: send a WAV file')
}

function typeOf({ headers }: Request): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
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
