import { describe, expect, it } from 'vitest'
import { gateTo } from '../../../zwave-mcp-server/test/support/gate.ts'
import { mosquitto } from '../../test/support/brokers.ts'
import { listen, openBus, openClient, responseTo } from '../../test/support/bus.ts'
import { eventually } from '../../test/support/eventually.ts'
import { hasPart } from '../../test/support/system-parts.ts'

const MESSAGES = 100
const TAKEN_BEFORE = 40
/** With 100 at once, messages of QoS 2 are lost between sender and Mosquitto 2.0.11 at a restart, whoever listens. */
const AT_ONCE = 10

const idsOf = (prefix: string) => Array.from({ length: MESSAGES }, (_, number) => `${prefix}-${number}`)

/** Publishes a message for each id, as a client that the broker knows again; resolves when the broker has them all. */
async function publishAll(url: string, qos: 1 | 2, ids: string[]): Promise<void> {
  const client = await openClient(url, { clientId: `publisher of ${ids[0]}`, clean: false })
  const left = [...ids]
  const publish = async () => {
    for (let id = left.shift(); id; id = left.shift())
      await client.publishAsync('voice/text', JSON.stringify({ text: 'on', id }), { qos })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, publish))
}

/** A bus that notes what it takes, and calls `onTaken` for each. */
function openNotingBus(url: string, onTaken: (id: string) => void = () => {}) {
  const ids: string[] = []
  const { bus } = openBus({
    url,
    onUtterance: ({ id = '' }) => {
      ids.push(id)
      onTaken(id)
      return { accepted: true }
    },
  })
  return { bus, ids }
}

describe.runIf(hasPart('mosquitto'))('MqttBus, when the broker is restarted in the middle', () => {
  it('loses nothing and does nothing twice where the broker keeps its sessions', async () => {
    const broker = await mosquitto({ persistence: true })
    const { heard, ids: answered } = await listen(broker.url, 'voice/response', {
      clientId: 'listener',
      clean: false,
    })
    const { bus, ids } = openNotingBus(broker.url, id => bus.response(responseTo(id)))
    await bus.ready()
    const all = [...idsOf('one'), ...idsOf('two')]
    const sent = Promise.all([
      publishAll(broker.url, 1, idsOf('one')),
      publishAll(broker.url, 2, idsOf('two')),
    ])
    await eventually(() => ids.length).toBeGreaterThan(TAKEN_BEFORE)
    await broker.stop()
    await broker.start()
    await sent
    await eventually(() => new Set(ids).size).toBe(all.length)
    expect(ids).toHaveLength(all.length)
    await eventually(() => answered().length).toBe(all.length)
    expect(heard.every(({ body }) => body.outcome === 'answered')).toBe(true)
  })

  it.each([
    { persistence: true, how: 'kill' as const },
    { persistence: false, how: 'kill' as const },
    { persistence: false, how: 'stop' as const },
  ])(
    'answers each message that it took, once ($how, persistence: $persistence)',
    async ({ persistence, how }) => {
      const broker = await mosquitto({ persistence })
      const gate = await gateTo(broker.url)
      const { bus, ids } = openNotingBus(gate.url)
      await bus.ready()
      const sent = Promise.all([
        publishAll(broker.url, 1, idsOf('one')),
        publishAll(broker.url, 2, idsOf('two')),
      ])
      await eventually(() => ids.length).toBeGreaterThan(TAKEN_BEFORE)
      await broker[how]()
      gate.shut()
      await eventually(() => bus.state.status).toBe('offline')
      await broker.start()
      const { ids: answered } = await listen(broker.url, 'voice/response')
      for (const id of ids) bus.response(responseTo(id))
      const before = [...ids]
      gate.open()
      await bus.ready()
      await sent
      await publishAll(broker.url, 1, idsOf('after'))
      await eventually(() => idsOf('after').every(id => ids.includes(id))).toBe(true)
      expect(new Set(ids).size).toBe(ids.length)
      await eventually(() => [...answered()].sort()).toEqual(before.sort())
    },
  )

  it('takes the same words again from a broker that has forgotten everything', async () => {
    const broker = await mosquitto({ persistence: false })
    const { bus, taken } = openBus({ url: broker.url })
    await bus.ready()
    const say = async () => (await openClient(broker.url)).publishAsync('voice/text', 'louder', { qos: 1 })
    await say()
    await eventually(() => taken).toHaveLength(1)
    await broker.kill()
    await eventually(() => bus.state.status).toBe('offline')
    await broker.start()
    await bus.ready()
    await say()
    await eventually(() => taken).toHaveLength(2)
  })
})
