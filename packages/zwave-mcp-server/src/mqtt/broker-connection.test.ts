import { once } from 'node:events'
import { createServer } from 'node:net'
import { Aedes, type AedesOptions } from 'aedes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { SILENT } from '../log.ts'
import { BrokerConnection, type BrokerOptions } from './broker-connection.ts'
import type { LinkState, Message } from './broker-link.ts'

/** aedes with rules; `received` is what others than the broker itself published. */
async function startBroker(options: AedesOptions = {}, port = 0) {
  const broker = await Aedes.createBroker(options)
  const received: string[] = []
  broker.on('publish', (packet, client) => void (client && received.push(packet.topic)))
  const server = createServer(socket => void broker.handle(socket)).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    await new Promise<void>(resolve => broker.close(resolve))
  }
  onTestFinished(close)
  const address = server.address()
  const actual = address && typeof address === 'object' ? address.port : 0
  return { broker, received, close, port: actual, url: `mqtt://127.0.0.1:${actual}` }
}

function open(options: Pick<BrokerOptions, 'url' | 'username' | 'password'>) {
  const connection = new BrokerConnection({ ...options, filter: 'zwave/#', logger: SILENT })
  const states: LinkState[] = []
  const messages: Message[] = []
  connection.start({ onState: state => states.push(state), onMessage: message => messages.push(message) })
  onTestFinished(() => connection.close())
  const becomes = (state: object) => eventually(() => connection.state).toEqual(state)
  return { connection, states, messages, becomes }
}

const authenticate: AedesOptions['authenticate'] = (_client, username, password, done) => {
  const error = Object.assign(new Error('no'), { returnCode: 5 })
  if (username === 'me' && password?.toString() === 'hunter2') done(null, true)
  else done(error, false)
}

describe('the connection to a broker', () => {
  it('is connecting, then connected and subscribed', async () => {
    const { url, broker } = await startBroker()
    const { connection, messages, becomes } = open({ url })
    expect(connection.state).toEqual({ status: 'connecting' })
    await becomes({ status: 'connected' })
    const packet = {
      cmd: 'publish',
      qos: 0,
      dup: false,
      retain: false,
      topic: 'zwave/x',
      payload: Buffer.from('1'),
    } as const
    broker.publish(packet, () => {})
    await eventually(() => messages).toEqual([{ topic: 'zwave/x', text: '1', retained: false }])
  })

  it('logs in with user and password, and shows neither', async () => {
    const { url } = await startBroker({ authenticate })
    const { becomes } = open({ url, username: 'me', password: 'hunter2' })
    await becomes({ status: 'connected' })
    const inUrl = open({ url: url.replace('//', '//me:hunter2@') })
    await inUrl.becomes({ status: 'connected' })
    expect(inUrl.connection.url).toBe(url)
  })

  it('says that the login was refused', async () => {
    const { url } = await startBroker({ authenticate })
    const { becomes } = open({ url, username: 'me', password: 'wrong' })
    await becomes({ status: 'offline', cause: expect.stringMatching(/Connection refused: Not authorized/) })
  })

  it('says that it may not subscribe', async () => {
    const { url } = await startBroker({
      authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    })
    const { becomes, connection } = open({ url })
    await becomes({ status: 'offline', cause: 'it refused the subscription to zwave/#' })
    expect(connection.publish('zwave/x', '1')).toBe(false)
  })

  it('says why it cannot get a URL', async () => {
    const { becomes } = open({ url: () => Promise.reject(new Error('no free port')) })
    await becomes({ status: 'offline', cause: 'no free port' })
  })

  it('sends immediately or not at all, and reconnects by itself', async () => {
    const first = await startBroker()
    const { connection, becomes } = open({ url: first.url })
    await becomes({ status: 'connected' })
    expect(connection.publish('zwave/a', '1')).toBe(true)
    await eventually(() => first.received).toEqual(['zwave/a'])
    await first.close()
    await becomes({ status: 'offline', cause: expect.any(String) })
    expect(connection.publish('zwave/b', '1')).toBe(false)
    await expect(connection.answers(1_000)).resolves.toBe(false)
    const second = await startBroker({}, first.port)
    await becomes({ status: 'connected' })
    await expect(connection.answers(1_000)).resolves.toBe(true)
    expect(connection.publish('zwave/c', '1')).toBe(true)
    await eventually(() => second.received).toEqual(['zwave/c'])
  })

  it('does not connect after it was closed', async () => {
    const { url, broker } = await startBroker()
    const { connection } = open({ url })
    await connection.close()
    expect(broker.connectedClients).toBe(0)
    expect(connection.publish('zwave/a', '1')).toBe(false)
  })
})
