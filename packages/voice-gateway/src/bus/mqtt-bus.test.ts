import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { gateTo } from '../../../zwave-mcp-server/test/support/gate.ts'
import { aedesBroker, mosquitto } from '../../test/support/brokers.ts'
import { listen, openBus, openClient, responseTo } from '../../test/support/bus.ts'
import { eventually } from '../../test/support/eventually.ts'
import { hasPart } from '../../test/support/system-parts.ts'

const hasMosquitto = hasPart('mosquitto')
const BROKERS = [
  { name: 'aedes', isThere: true, start: () => aedesBroker() },
  { name: 'mosquitto', isThere: hasMosquitto, start: () => mosquitto() },
]

describe.each(BROKERS.filter(({ isThere }) => isThere))('MqttBus on $name', ({ start }) => {
  it('takes what is said and written, with the conversation of the topic', async () => {
    const { url } = await start()
    const { bus, taken } = openBus({ url })
    await bus.ready()
    expect(bus.state).toEqual({ status: 'connected' })
    const client = await openClient(url)
    const wav = Buffer.from('RIFF$\0\0\0WAVE', 'latin1')
    await client.publishAsync('voice/text', 'turn on the light')
    await client.publishAsync('voice/text/kitchen', '{"text":"off","id":"7"}', { qos: 1 })
    await client.publishAsync('voice/audio', wav, { qos: 2 })
    await eventually(() => taken).toHaveLength(3)
    await client.publishAsync('voice/audio/bath', Buffer.alloc(64), { qos: 1 })
    await eventually(() => taken).toEqual([
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
    await eventually(() => heard.map(({ body }) => body)).toEqual([
      {
        id: expect.any(String),
        conversation: 'bath',
        outcome: 'dropped',
        question: '',
        text: '',
        error: 'the text is not valid UTF-8',
        calls: [],
        durations: { waitMs: 0, totalMs: 0 },
        at: expect.any(String),
      },
      expect.objectContaining({
        id: '7',
        conversation: 'home',
        outcome: 'dropped',
        error: '"text" must be a string',
      }),
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

  it('does not carry out what was sent to the process before', async () => {
    const { url } = await start()
    const former = await openClient(url, { clientId: 'voice-under-test', clean: false })
    await former.subscribeAsync(['voice/text/#', 'voice/audio/#'], { qos: 2 })
    await former.endAsync(true)
    const client = await openClient(url)
    await client.publishAsync('voice/text', 'turn on the heater', { qos: 1 })
    await client.publishAsync('voice/text', 'turn on the oven', { qos: 2 })
    const { bus, taken } = openBus({ url })
    await bus.ready()
    await client.publishAsync('voice/text', 'hello', { qos: 1 })
    await eventually(() => taken).toEqual([{ text: 'hello' }])
  })

  it('takes what was said during a short loss of connection, and delivers what it had to say', async () => {
    const { url } = await start()
    const gate = await gateTo(url)
    const { heard } = await listen(url, 'voice/response')
    const client = await openClient(url)
    const { bus, taken, states } = openBus({ url: gate.url })
    await bus.ready()
    gate.shut()
    await eventually(() => bus.state.status).toBe('offline')
    await client.publishAsync('voice/text', 'at 1', { qos: 1 })
    await client.publishAsync('voice/text', 'at 2', { qos: 2 })
    bus.response(responseTo('1'))
    bus.response(responseTo('2'))
    gate.open()
    await eventually(() => taken).toEqual([{ text: 'at 1' }, { text: 'at 2' }])
    await eventually(() => heard.map(({ body }) => body.id)).toEqual(['1', '2'])
    await eventually(() => states.map(({ status }) => status)).toEqual(['connected', 'offline', 'connected'])
  })

  it.each([1, 2] as const)('takes a message once whose acknowledgement was lost (QoS %s)', async qos => {
    const { url } = await start()
    const gate = await gateTo(url)
    const client = await openClient(url)
    const taken: string[] = []
    const { bus } = openBus({
      url: gate.url,
      onUtterance: utterance => {
        taken.push('text' in utterance ? utterance.text : '')
        if (taken.length === 1) gate.shut()
        return { accepted: true }
      },
    })
    await bus.ready()
    await client.publishAsync('voice/text', 'on', { qos })
    await eventually(() => taken).toEqual(['on'])
    await eventually(() => bus.state.status).toBe('offline')
    gate.open()
    await bus.ready()
    await client.publishAsync('voice/text', 'the end', { qos })
    await eventually(() => taken).toContain('the end')
    expect(taken).toEqual(['on', 'the end'])
  })

  it.each([1, 2] as const)('takes each of many messages (QoS %s)', async qos => {
    const { url } = await start()
    const { bus, taken } = openBus({ url })
    await bus.ready()
    const client = await openClient(url)
    if (client.stream instanceof Socket) client.stream.setNoDelay(true)
    const ids = Array.from({ length: 300 }, (_, number) => String(number))
    const left = [...ids]
    const publish = async () => {
      for (let id = left.shift(); id; id = left.shift())
        await client.publishAsync('voice/text', JSON.stringify({ text: 'on', id }), { qos })
    }
    await Promise.all(Array.from({ length: 15 }, publish))
    await eventually(() => taken.map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  it('stays connected when an utterance makes trouble', async () => {
    const { url } = await start()
    const { heard } = await listen(url, 'voice/response')
    const { bus, states } = openBus({
      url,
      onUtterance: () => {
        throw new Error('broken')
      },
    })
    await bus.ready()
    const client = await openClient(url)
    for (const id of ['1', '2'])
      await client.publishAsync('voice/text', JSON.stringify({ text: 'on', id }), { qos: 1 })
    await eventually(() => heard.map(({ body }) => body.id)).toEqual(['1', '2'])
    expect(states).toEqual([{ status: 'connected' }])
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
