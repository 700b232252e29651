import { describe, expect, it } from 'vitest'
import { ADDRESS, dataOf, deferred, type TestGateway, testGateway } from '../../test/gateway.ts'
import type { VoiceInput } from '../project/voice.ts'

const wav = new TextEncoder().encode('RIFF, as far as the gateway cares')

/** Understands when it is told to; says when it was begun and aborted. */
function patientVoice() {
  const begun = deferred<void>()
  const aborted = deferred<void>()
  const words = deferred<{ text: string }>()
  const heard: Uint8Array[] = []
  const voice: VoiceInput = {
    transcribe: (bytes, { signal }) => {
      heard.push(bytes)
      signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      return words.promise
    },
  }
  return { voice, heard, begun: begun.promise, aborted: aborted.promise, understand: words.resolve }
}

type Body = Uint8Array | string | ReadableStream<Uint8Array> | undefined

async function send(gateway: Pick<TestGateway, 'fetch'>, body: Body, more: RequestInit = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'audio/wav' }, duplex: 'half', body, ...more }
  return gateway.fetch(new Request(`${ADDRESS}/api/transcriptions`, init as RequestInit))
}

describe('POST /api/transcriptions', () => {
  it('takes a recording and answers with its words', async () => {
    const { voice, heard, understand } = patientVoice()
    understand({ text: ' Turn on the light. ' })
    await using gateway = testGateway([], { voice })
    const response = await send(gateway, wav, { headers: { 'content-type': 'Audio/WAV; rate=16000' } })
    expect(response.status).toBe(200)
    expect(await dataOf(response)).toEqual({ text: 'Turn on the light.', durationMs: expect.any(Number) })
    expect(heard.map(bytes => Buffer.from(bytes).toString())).toEqual([Buffer.from(wav).toString()])
  })

  it('[F40] is waited for when the gateway closes', async () => {
    const { voice, begun, understand } = patientVoice()
    const gateway = testGateway([], { voice })
    const response = send(gateway, wav)
    await begun
    const closed = gateway.close()
    expect((await send(gateway, wav)).status).toBe(503)
    understand({ text: 'in time' })
    expect(await dataOf(await response)).toMatchObject({ text: 'in time' })
    await closed
  })
})
