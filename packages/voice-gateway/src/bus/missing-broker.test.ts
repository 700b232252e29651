import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../../zwave-mcp-server/test/support/brokers.ts'
import { aedesBroker } from '../../test/support/brokers.ts'
import { openBus, responseTo } from '../../test/support/bus.ts'
import { eventually } from '../../test/support/eventually.ts'
import { connectMqttBus } from './mqtt-bus.ts'

describe('MqttBus without a broker', () => {
  it('waits for one, with growing pauses, and says so once', async () => {
    const clock = fakeClock()
    const port = await freePort()
    const { bus, states, logger } = openBus({ url: `mqtt://me:hunter2@127.0.0.1:${port}`, clock })
    const isPausing = () => eventually(() => clock.pending).toBe(1)
    for (let attempt = 0; attempt < 3; attempt++) {
      await isPausing()
      await clock.advance(10_000)
    }
    await isPausing()
    const cause = 'nothing listens there (ECONNREFUSED)'
    expect(states).toEqual([{ status: 'offline', cause }])
    expect(logger.at('warn')).toEqual([
      {
        level: 'warn',
        message: 'the MQTT broker is not there; trying again and again',
        fields: { broker: `mqtt://127.0.0.1:${port}`, cause },
      },
    ])
    const { broker } = await aedesBroker({ port })
    await clock.advance(10_000)
    await bus.ready()
    expect(broker.connectedClients).toBe(1)
    expect(logger.text()).not.toContain('hunter2')
  })

  it('ends at once where there is nothing to deliver, and tells those who wait for it', async () => {
    const { bus } = openBus({ url: `mqtt://127.0.0.1:${await freePort()}`, clock: fakeClock() })
    const ready = bus.ready()
    await Promise.all([bus.close(), expect(ready).rejects.toThrow('was closed')])
    await expect(bus.ready()).rejects.toThrow('was closed')
  })

  it('gives up what it cannot deliver after two seconds', async () => {
    const clock = fakeClock()
    const { bus, logger } = openBus({ url: `mqtt://127.0.0.1:${await freePort()}`, clock })
    bus.response(responseTo('1'))
    let isClosed = false
    const closing = bus.close().then(() => {
      isClosed = true
    })
    await clock.advance(1_900)
    expect(isClosed).toBe(false)
    await clock.advance(200)
    await closing
    expect(logger.at('warn').at(-1)).toMatchObject({
      message: 'the MQTT broker is not there: messages are lost',
      fields: { messages: 1 },
    })
  })

  it.each(['http://broker', 'mqtt://', 'me:hunter2@'])(
    'refuses %s as the URL of one, without a password',
    url => {
      const open = () =>
        connectMqttBus({ url, logger: recordingLogger(), onUtterance: () => ({ accepted: true }) })
      expect(open).toThrow(/The MQTT broker URL must look like mqtt:\/\/host:1883/)
      expect(open).not.toThrow(/hunter2/)
    },
  )
})

describe('MqttBus on a broker that is not content', () => {
  it('says that user or password are wrong', async () => {
    const { url } = await aedesBroker({
      authenticate: (_client, user, password, done) =>
        user === 'me' && String(password) === 'hunter2'
          ? done(null, true)
          : done(Object.assign(new Error('no'), { returnCode: 4 }), false),
    })
    const { bus: wrong } = openBus({ url, username: 'me', password: 'other' })
    await eventually(() => wrong.state).toEqual({
      status: 'offline',
      cause: 'it does not accept the user name or password',
    })
    const { bus: right } = openBus({ url, username: 'me', password: 'hunter2', clientId: 'right' })
    await right.ready()
  })

  it('says that it may not subscribe', async () => {
    const clock = fakeClock()
    const { url } = await aedesBroker({
      authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    })
    const { bus, states } = openBus({ url, clock })
    for (let attempt = 0; attempt < 6; attempt++) {
      await eventually(() => clock.pending).toBe(1)
      await clock.advance(10_000)
    }
    const cause = 'it does not allow to subscribe to voice/text/# and voice/audio/#'
    expect(states).toEqual([{ status: 'offline', cause }])
    await bus.close()
  })

  it('says that somebody else seems to have its client id, and believes only in a connection that holds', async () => {
    const clock = fakeClock()
    const { url, broker } = await aedesBroker()
    let isTakenOver = true
    broker.on('subscribe', (_subscriptions, client) => {
      if (isTakenOver) setImmediate(() => client.close())
    })
    const { bus, states, logger } = openBus({ url, clock })
    for (let attempt = 0; attempt < 4; attempt++) {
      await eventually(() => logger.at('warn').length + clock.pending).toBe(attempt + 2)
      await clock.advance(10_000)
    }
    await eventually(() => bus.state).toEqual({
      status: 'offline',
      cause:
        'another client seems to use the client id "voice-under-test" and to end our connections: give this gateway one of its own, as voice.mqtt.clientId',
    })
    isTakenOver = false
    const said = states.length
    await eventually(() => clock.pending).toBe(1)
    await clock.advance(59_999)
    expect(clock.pending).toBe(1)
    expect(broker.connectedClients).toBe(0)
    await clock.advance(1)
    await eventually(() => broker.connectedClients).toBe(1)
    await eventually(() => clock.pending).toBe(1)
    expect(states).toHaveLength(said)
    await clock.advance(1_000)
    expect(states.slice(said)).toEqual([{ status: 'connected' }])
  })

  it('suspects nobody where the broker itself was away in between', async () => {
    const clock = fakeClock()
    const endConnections = ({ broker }: Awaited<ReturnType<typeof aedesBroker>>) =>
      broker.on('subscribe', (_subscriptions, client) => void setImmediate(() => client.close()))
    const first = await aedesBroker()
    endConnections(first)
    const { states } = openBus({ url: first.url, clock })
    for (let connections = 1; connections < 4; connections++) {
      await eventually(() => states).toHaveLength(2 * connections)
      await clock.advance(10_000)
    }
    await eventually(() => states).toHaveLength(8)
    await first.stop()
    await clock.advance(10_000)
    await eventually(() => states.at(-1)).toMatchObject({ cause: 'nothing listens there (ECONNREFUSED)' })
    endConnections(await aedesBroker({ port: first.port }))
    await clock.advance(10_000)
    await eventually(() => states).toHaveLength(11)
    expect(JSON.stringify(states)).not.toContain('client id')
  })
})
