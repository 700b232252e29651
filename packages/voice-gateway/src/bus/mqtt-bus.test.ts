import { describe, expect, it } from 'vitest'
import { aedesBroker, hasMosquitto, mosquittoBroker } from '../../../zwave-mcp-server/test/support/brokers.ts'
import { listen, openBus, openClient, responseTo } from '../../test/support/bus.ts'
import { eventually } from '../../test/support/eventually.ts'

const BROKERS = [
  { name: 'aedes', isThere: true, start: () => aedesBroker() },
  { name: 'mosquitto', isThere: hasMosquitto, start: () => mosquittoBroker() },
]

describe.each(BROKERS.filter(({ isThere }) => isThere))('MqttBus on $name', ({ start }) => {
  it('takes what is said and written, with the conversation of the topic', async () => {
    const { url } = await start()
    const { bus, taken } = openBus({ url })
    await bus.ready()
    const client = await openClient(url)
    const wav = Buffer.from('RIFF$\0\0\0WAVE', 'latin1')
    await client.publishAsync('voice/text', 'turn on the light')
    await client.publishAsync('voice/text/kitchen', '{"text":"off","id":"7"}', { qos: 1 })
    await client.publishAsync('voice/audio', wav, { qos: 2 })
    await eventually(() => taken).toHaveLength(3)
    await client.publishAsync('voice/audio/bath', Buffer.alloc(64), { qos: 1 })
    await eventually(() => taken).toMatchObject([
      { text: 'turn on the light' },
      { text: 'off', id: '7', conversation: 'kitchen' },
      { wav },
      { pcm: Buffer.alloc(64), conversation: 'bath' },
    ])
  })

  it('tells what was heard and what became of it, in order', async () => {
    const { url } = await start()
    const { heard } = await listen(url, 'voice/#')
    const { bus } = openBus({ url })
    const transcription = { ...responseTo('1'), source: 'text' as const }
    bus.transcription(transcription)
    bus.response(responseTo('1'))
    for (let number = 2; number < 100; number++) bus.response(responseTo(String(number)))
    await eventually(() => heard.length).toBe(100)
    expect(heard[0]).toEqual({ topic: 'voice/transcription', body: transcription })
    expect(heard[1]).toEqual({ topic: 'voice/response', body: responseTo('1') })
    expect(heard.slice(1).map(({ body }) => Number(body.id))).toEqual(
      Array.from({ length: 99 }, (_, n) => n + 1),
    )
  })

  it('refuses junk on the bus and in the log, and goes on', async () => {
    const { url } = await start()
    const { heard } = await listen(url, 'voice/response')
    const { bus, taken, logger } = openBus({ url })
    await bus.ready()
    const client = await openClient(url)
    await client.publishAsync('voice/text/bath', Buffer.from([0xff]), { qos: 1 })
    await client.publishAsync('voice/text', '{"text":5,"id":"7"}', { qos: 2 })
    await client.publishAsync('voice/text', 'on', { qos: 1 })
    await eventually(() => taken).toEqual([{ text: 'on' }])
    const dropped = { outcome: 'dropped', question: '', text: '', calls: [] }
    await eventually(() => heard.map(({ body }) => body)).toMatchObject([
      { ...dropped, id: expect.any(String), conversation: 'bath', error: 'the text is not valid UTF-8' },
      { ...dropped, id: '7', conversation: 'home', error: '"text" must be a string' },
    ])
    expect(logger.at('warn')).toHaveLength(2)
  })

  it('does not carry out what is retained', async () => {
    const { url } = await start()
    const client = await openClient(url)
    await client.publishAsync('voice/text', 'turn on the heater', { qos: 1, retain: true })
    const { bus, taken, logger } = openBus({ url })
    await bus.ready()
    await client.publishAsync('voice/text', 'hello', { qos: 1 })
    await eventually(() => taken).toEqual([{ text: 'hello' }])
    expect(logger.text()).toContain('Ignored a retained message')
  })

  it('delivers the rest when it is closed, and leaves nothing waiting at the broker', async () => {
    const { url } = await start()
    const { heard } = await listen(url, 'voice/response')
    const { bus } = openBus({ url })
    await bus.ready()
    for (let number = 0; number < 200; number++) bus.response(responseTo(String(number)))
    await bus.close()
    await eventually(() => heard).toHaveLength(200)
    const client = await openClient(url)
    await client.publishAsync('voice/text', 'turn on the heater', { qos: 1 })
    const later = await openClient(url, { clientId: 'voice-under-test', clean: false })
    const late: string[] = []
    later.on('message', (_topic, payload) => late.push(payload.toString()))
    await later.subscribeAsync('done')
    await client.publishAsync('done', 'done')
    await eventually(() => late).toEqual(['done'])
  })
})
