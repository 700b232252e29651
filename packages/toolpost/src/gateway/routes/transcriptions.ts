import { unlessAborted } from '../../util/clock.ts'
import type { GatewayContext } from '../context.ts'
import { type App, callerOf, failure, headerOf, json, readBytes, shuttingDown } from '../http.ts'
import { MAX_AUDIO_BYTES } from '../limits.ts'

const AUDIO_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'application/octet-stream']

/** Speech in, text out. Aborted if the caller disconnects. */
export function addTranscriptionRoutes(app: App, { calls, source }: GatewayContext): void {
  app.post('/api/transcriptions', async c => {
    const voice = source.voice()
    if (calls.isDraining) return shuttingDown()
    if (!voice) return failure(404, 'Speech to text is off: start it with toolpost up --voice')
    const [type = ''] = (headerOf(c, 'content-type') ?? '').split(';', 1)
    if (!AUDIO_TYPES.includes(type.trim().toLowerCase()))
      return failure(415, 'Send a WAV file, with content-type: audio/wav')
    const wav = await readBytes(c, MAX_AUDIO_BYTES)
    if (wav instanceof Response) return wav
    if (wav.byteLength === 0) return failure(400, 'The body is empty: send a WAV file')
    // The gateway may have been told to stop while the recording was arriving.
    if (calls.isDraining) return shuttingDown()
    const caller = callerOf(c)
    const { signal } = caller
    const startedAt = performance.now()
    // A transcription that ignores its signal is not waited for.
    const transcribed = () => unlessAborted(voice.transcribe(wav, { signal }), signal).catch(() => undefined)
    const heard = await calls.run(caller, transcribed)
    if (heard === undefined) return shuttingDown()
    if ('problem' in heard) return failure(422, heard.problem)
    const text = heard.text.trim()
    if (text === '') return failure(422, 'No speech recognized')
    return json({ text, durationMs: Math.round(performance.now() - startedAt) })
  })
}
