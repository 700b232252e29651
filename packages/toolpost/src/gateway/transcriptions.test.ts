import { describe, expect, it } from 'vitest'
import { ADDRESS, dataOf, type TestGateway, testGateway } from '../../test/gateway.ts'
import { ToolExecutor } from '../executor/executor.ts'
import type { VoiceInput } from '../project/voice.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { GatewaySource } from './context.ts'
import { sourceOf } from './context.ts'
import { MAX_AUDIO_BYTES } from './limits.ts'
import { serveGateway } from './serve-gateway.ts'

const wav = new TextEncoder().encode('RIFF, as far as the gateway cares')

function hearing(answer: Awaited<ReturnType<VoiceInput['transcribe']>>) {
  const heard: Uint8Array[] = []
  const voice: VoiceInput = {
    transcribe: async bytes => {
      heard.push(bytes)
      return answer
    },
  }
  return { voice, heard }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}

/** A project whose speech to text comes and goes. */
function changingVoice(first: VoiceInput | undefined) {
  let voice = first
  let tell = () => {}
  const project: GatewaySource = {
    ...sourceOf({ executor: new ToolExecutor(new ToolManager()) }),
    voice: () => voice,
    on: (event, listener) => {
      if (event === 'voice') tell = listener
      return () => {}
    },
  }
  const change = (next: VoiceInput | undefined) => {
    voice = next
    tell()
  }
  return { project, change }
}

/** Understands when it is told to; says when it was begun and aborted. */
function patientVoice() {
  const begun = deferred<void>()
  const aborted = deferred<void>()
  const words = deferred<{ text: string }>()
  const voice: VoiceInput = {
    transcribe: (_wav, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      return words.promise
    },
  }
  return { voice, begun: begun.promise, aborted: aborted.promise, understand: words.resolve }
}

type Body = Uint8Array | string | ReadableStream<Uint8Array> | undefined

async function send(gateway: Pick<TestGateway, 'fetch'>, body: Body, more: RequestInit = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'audio/wav' }, duplex: 'half', body, ...more }
  return gateway.fetch(new Request(`${ADDRESS}/api/transcriptions`, init as RequestInit))
}

describe('POST /api/transcriptions', () => {
  it.each(['audio/wav', 'audio/x-wav', 'Audio/WAV; rate=16000', 'application/octet-stream'])(
    'takes a recording as %s and answers with its words',
    async type => {
      const { voice, heard } = hearing({ text: ' Turn on the light. ' })
      await using gateway = testGateway([], { voice })
      const response = await send(gateway, wav, { headers: { 'content-type': type } })
      expect(response.status).toBe(200)
      expect(await dataOf(response)).toEqual({ text: 'Turn on the light.', durationMs: expect.any(Number) })
      expect(heard.map(bytes => Buffer.from(bytes).toString())).toEqual([Buffer.from(wav).toString()])
    },
  )

  it.each([
    ['what nobody understands', { problem: 'The recording is too quiet' }, 'The recording is too quiet'],
    ['no words', { text: '  ' }, 'No speech recognized'],
  ])('answers %s with 422 and the reason', async (_what, answer, reason) => {
    await using gateway = testGateway([], { voice: hearing(answer).voice })
    const response = await send(gateway, wav)
    expect([response.status, await dataOf(response)]).toEqual([422, { error: reason }])
  })

  it.each([
    ['an empty body', undefined, {}, 400, /WAV file/],
    ['another content type', '{}', { headers: { 'content-type': 'application/json' } }, 415, /audio\/wav/],
    ['no content type', wav, { headers: {} }, 415, /audio\/wav/],
    ['more than 20 MB', new Uint8Array(MAX_AUDIO_BYTES + 1), {}, 413, /larger than 20000000 bytes/],
  ])('refuses %s in one sentence', async (_what, body, init, status, message) => {
    const { voice, heard } = hearing({ text: 'never' })
    await using gateway = testGateway([], { voice })
    const response = await send(gateway, body, init)
    expect(response.status).toBe(status)
    expect((await dataOf(response)).error).toMatch(message)
    expect(heard).toEqual([])
  })

  it('takes 20 MB, and counts a body of unknown length', async () => {
    const { voice, heard } = hearing({ text: 'a long story' })
    await using gateway = testGateway([], { voice })
    const chunks = (count: number) =>
      new ReadableStream<Uint8Array>({
        pull: controller =>
          count-- > 0 ? controller.enqueue(new Uint8Array(1_000_000)) : controller.close(),
      })
    expect((await send(gateway, chunks(20))).status).toBe(200)
    expect(heard[0]?.byteLength).toBe(MAX_AUDIO_BYTES)
    expect((await send(gateway, chunks(21))).status).toBe(413)
  })

  it('stops when the caller goes away', async () => {
    const { voice, begun, aborted } = patientVoice()
    await using gateway = testGateway([], { voice })
    const gone = new AbortController()
    const response = send(gateway, wav, { signal: gone.signal })
    await begun
    gone.abort()
    await aborted
    expect((await response).status).toBe(503)
  })

  it('[F06] stops when the connection of the caller ends', async () => {
    const { voice, begun, aborted } = patientVoice()
    const served = await serveGateway({
      token: false,
      port: 0,
      executor: new ToolExecutor(new ToolManager()),
      voice,
    })
    const gone = new AbortController()
    const answer = fetch(`${served.url}api/transcriptions`, {
      method: 'POST',
      headers: { 'content-type': 'audio/wav' },
      body: wav,
      signal: gone.signal,
    })
    await begun
    gone.abort()
    await expect(answer).rejects.toThrow()
    await aborted
    await served.close({ drainMs: 0 })
  })

  it('[F40] is waited for when the gateway closes, and takes nothing new', async () => {
    const { voice, begun, understand } = patientVoice()
    const { project, change } = changingVoice(voice)
    const gateway = testGateway([], { project })
    const response = send(gateway, wav)
    await begun
    change(undefined)
    const closed = gateway.close()
    expect((await send(gateway, wav)).status).toBe(503)
    understand({ text: 'in time' })
    expect(await dataOf(await response)).toMatchObject({ text: 'in time' })
    await closed
  })

  it('[F40] refuses a recording that was still on its way when the gateway was told to stop', async () => {
    const { voice, heard } = hearing({ text: 'too late' })
    const gateway = testGateway([], { voice })
    const slow = new ReadableStream<Uint8Array>({
      pull: controller => {
        void gateway.close()
        controller.enqueue(wav)
        controller.close()
      },
    })
    expect((await send(gateway, slow)).status).toBe(503)
    expect(heard).toEqual([])
  })

  it('[F40] does not hold up closing beyond its limit, even if it does not stop', async () => {
    const { voice, begun } = patientVoice()
    const gateway = testGateway([], { voice })
    const response = send(gateway, wav)
    await begun
    await gateway.close({ drainMs: 0 })
    expect((await response).status).toBe(503)
  })
})
