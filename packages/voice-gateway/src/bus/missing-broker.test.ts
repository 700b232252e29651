import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../../../zwave-mcp-server/test/support/brokers.ts'
import { aedesBroker } from '../../test/support/brokers.ts'
import { openBus, responseTo } from '../../test/support/bus.ts'
import { eventually } from '../../test/support/eventually.ts'
import { connectMqttBus } from './mqtt-bus.ts'

/** mqtt.js waits for the next attempt in an interval: here it is over when the test says so. */
function heldPauses() {
  const pauses: { ms: number; end(): void }[] = []
  const begin = globalThis.setInterval
  vi.spyOn(Math, 'random').mockReturnValue(1)
  vi.spyOn(globalThis, 'setInterval').mockImplementation(((callback: () => void, ms: number) => {
    const isPause = /_reconnect\(\)/.test(String(callback))
    if (isPause) pauses.push({ ms, end: callback })
    return isPause ? begin(() => {}, 1_000_000).unref() : begin(callback, ms)
  }) as typeof setInterval)
  onTestFinished(() => void vi.restoreAllMocks())
  return {
    lengths: () => pauses.map(({ ms }) => ms),
    /** Waits for the pause of that number, counted from 1, and ends it. */
    end: async (number: number) => {
      await eventually(() => pauses.length).toBe(number)
      pauses[number - 1]?.end()
    },
  }
}

describe('MqttBus without a broker', () => {
  it('waits for one, with growing pauses, and says so once', async () => {
    const pauses = heldPauses()
    const port = await freePort()
    const { bus, states, logger } = openBus({ url: `mqtt://me:hunter2@127.0.0.1:${port}` })
    for (let attempt = 1; attempt <= 8; attempt++) await pauses.end(attempt)
    await eventually(pauses.lengths).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000])
    const cause = 'connection refused (ECONNREFUSED)'
    expect(states).toEqual([{ status: 'offline', cause }])
    expect(logger.at('warn')).toEqual([
      {
        level: 'warn',
        message: 'MQTT broker unreachable; retrying',
        fields: { broker: `mqtt://127.0.0.1:${port}`, cause },
      },
    ])
    await aedesBroker({ port })
    await pauses.end(9)
    await pauses.end(10)
    await bus.ready()
    expect(logger.text()).not.toContain('hunter2')
  })

  it('ends immediately if there is nothing to deliver, and tells those who wait for it', async () => {
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
      message: 'MQTT broker unreachable; dropping undelivered messages',
      fields: { messages: 1 },
    })
  })

  it.each(['http://broker', 'mqtt://', 'me:hunter2@', 'mqtt://me:hunter2', 'mqtt://me:hunter2/x@'])(
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
  it('takes a password with any characters in it', async () => {
    const passwords: string[] = []
    const { port } = await aedesBroker({
      authenticate: (_client, _user, password, done) => {
        passwords.push(String(password))
        done(null, true)
      },
    })
    for (const [number, password] of ['50%off', 'hunter2/x?y#z', 'a@b:c'].entries()) {
      const url = `mqtt://u:${password}@127.0.0.1:${port}`
      const { bus, logger } = openBus({ url, clientId: `client-${number}` })
      await bus.ready()
      expect(passwords.at(-1)).toBe(password)
      expect(logger.text()).not.toContain(password)
    }
  })

  it('says that the user name or password is wrong', async () => {
    const { url } = await aedesBroker({
      authenticate: (_client, user, password, done) =>
        user === 'me' && String(password) === 'hunter2'
          ? done(null, true)
          : done(Object.assign(new Error('no'), { returnCode: 4 }), false),
    })
    const { bus: wrong } = openBus({ url, username: 'me', password: 'other' })
    await eventually(() => wrong.state).toEqual({
      status: 'offline',
      cause: 'wrong user name or password',
    })
    const { bus: right } = openBus({ url, username: 'me', password: 'hunter2', clientId: 'right' })
    await right.ready()
  })

  it('says that it may not subscribe', async () => {
    const pauses = heldPauses()
    const { url } = await aedesBroker({
      authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    })
    const { states } = openBus({ url })
    for (let connections = 1; connections < 8; connections++) await pauses.end(connections)
    await eventually(pauses.lengths).toHaveLength(8)
    const cause = 'it refused the subscription to voice/text/# and voice/audio/#'
    expect(states).toEqual([{ status: 'offline', cause }])
  })

  it('says that somebody else seems to have its client id, and believes only in a connection that holds', async () => {
    const pauses = heldPauses()
    const clock = fakeClock()
    const { url, broker } = await aedesBroker()
    let isTakenOver = true
    broker.on('subscribe', (_subscriptions, client) => {
      if (isTakenOver) setImmediate(() => client.close())
    })
    const { bus, states } = openBus({ url, clock })
    for (let connections = 1; connections < 6; connections++) await pauses.end(connections)
    await eventually(() => bus.state).toEqual({
      status: 'offline',
      cause:
        'another client seems to be using the client id "voice-under-test" and closing our connections: set voice.mqtt.clientId to a unique one',
    })
    isTakenOver = false
    const said = states.length
    expect(pauses.lengths()).toEqual([1, 250, 500, 1_000, 2_000, 60_000])
    await pauses.end(6)
    await eventually(() => clock.pending).toBe(1)
    expect(states).toHaveLength(said)
    await clock.advance(1_000)
    expect(states.slice(said)).toEqual([{ status: 'connected' }])
  })

  it('suspects nobody if the broker itself was away in between', async () => {
    const pauses = heldPauses()
    const endConnections = ({ broker }: Awaited<ReturnType<typeof aedesBroker>>) =>
      broker.on('subscribe', (_subscriptions, client) => void setImmediate(() => client.close()))
    const first = await aedesBroker()
    endConnections(first)
    const { states } = openBus({ url: first.url, clock: fakeClock() })
    for (let connections = 1; connections < 5; connections++) await pauses.end(connections)
    await eventually(() => states).toHaveLength(8)
    await first.stop()
    await pauses.end(5)
    await eventually(() => states.at(-1)).toMatchObject({ cause: 'connection refused (ECONNREFUSED)' })
    endConnections(await aedesBroker({ port: first.port }))
    await pauses.end(6)
    await eventually(() => states).toHaveLength(11)
    expect(JSON.stringify(states)).not.toContain('client id')
  })
})
