import { unlessAborted } from '../../util/clock.ts'
import type { GatewayContext } from '../context.ts'
import { type App, callerOf, headerOf, json, readBytes, refusal, shuttingDown } from '../http.ts'
import { MAX_AUDIO_BYTES } from '../limits.ts'

/** Speech in, text out. Aborted if the caller disconnects. */
export function addTranscriptionRoutes(app: App, { calls, source }: GatewayContext): void {
  app.post('/api/transcriptions', async c => {
    const voice = source.voice()
    if (calls.isDraining) throw shuttingDown()
    if (!voice) throw refusal(404, 'Speech to text is off: start it with toolpost up --voice')
    if (!/^(audio\/(x-|vnd\.)?wave?|application\/octet-stream)\b/i.test(headerOf(c, 'content-type') ?? ''))
      throw refusal(415, 'Send a WAV file, with content-type: audio/wav')
    const wav = await readBytes(c, MAX_AUDIO_BYTES)
    if (wav.byteLength === 0) throw refusal(400, 'The body is empty: send a WAV file')
    // The gateway may have been told to stop while the recording was arriving.
    if (calls.isDraining) throw shuttingDown()
    const caller = callerOf(c)
    const { signal } = caller
    const startedAt = performance.now()
    // A transcription that ignores its signal is not waited for.
    const transcribed = () => unlessAborted(voice.transcribe(wav, { signal }), signal).catch(() => undefined)
    const heard = await calls.run(caller, transcribed)
    if (heard === undefined) throw shuttingDown()
    const text = 'problem' in heard ? '' : heard.text.trim()
    if (text === '') throw refusal(422, 'problem' in heard ? heard.problem : 'No speech recognized')
    return json({ text, durationMs: Math.round(performance.now() - startedAt) })
  })
}
