import { OfflineClient } from 'toolpost/models'
import { describe, expect, it } from 'vitest'
import { BackgroundTranscriber } from '../src/background-transcriber.ts'
import type { VoiceBus } from '../src/bus/voice-bus.ts'
import { fakeTranscriber, lampExecutor } from './fakes.ts'
import { mosquitto } from './support/brokers.ts'
import { listen, openBus, openClient } from './support/bus.ts'
import { eventually } from './support/eventually.ts'
import { hasPart } from './support/system-parts.ts'

const MESSAGES = 120
/** With many at once, Mosquitto 2.0.11 loses messages of QoS 2 between it and their sender at a restart. */
const AT_ONCE = 10

describe.skipIf(!hasPart('mosquitto'))(
  'a broker that is restarted in the middle',
  { timeout: 60_000 },
  () => {
    it.each(['stop', 'kill'] as const)(
      'loses nothing that was accepted and does nothing twice (%s)',
      async ending => {
        const broker = await mosquitto()
        const { executor, done } = lampExecutor()
        const buses: VoiceBus[] = []
        const accepted: string[] = []
        const background = new BackgroundTranscriber({
          transcriber: fakeTranscriber(),
          client: new OfflineClient(),
          executor,
          queueLimit: MESSAGES,
          bus: {
            transcription: message => buses[0]?.transcription(message),
            response: message => buses[0]?.response(message),
          },
        })
        const { bus, states } = openBus({
          url: broker.url,
          onUtterance: utterance => {
            const taken = background.take(utterance)
            if (taken.accepted) accepted.push(taken.id)
            return taken
          },
        })
        buses.push(bus)
        await bus.ready()
        const session = { clean: false, clientId: 'listener' }
        const { ids } = await listen(broker.url, 'voice/response', session)
        const sender = await openClient(broker.url, { clean: false, clientId: 'sender' })

        const left = Array.from({ length: MESSAGES }, (_, n) => n)
        const send = async () => {
          for (let n = left.shift(); n !== undefined; n = left.shift()) {
            const text = JSON.stringify({ text: 'turn on the lamp', id: `${n}` })
            const sent = sender.publishAsync('voice/text', text, { qos: n % 2 === 0 ? 1 : 2 })
            if (n === MESSAGES / 2) {
              await broker[ending]()
              await broker.start()
            }
            await sent
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, send))
        await eventually(() => states.map(({ status }) => status).join(' ')).toMatch(/offline.*connected$/)
        const last = JSON.stringify({ text: 'turn off the lamp', id: 'last' })
        await sender.publishAsync('voice/text', last, { qos: 1 })
        await eventually(() => accepted.includes('last')).toBe(true)
        await background.idle()
        // A broker that is killed may lose what it had on its way, to either side; one that is stopped loses nothing.
        const answered = ending === 'stop' ? accepted : ['last']
        await eventually(() => answered.filter(id => !ids().includes(id))).toEqual([])
        expect(new Set(accepted).size).toBe(accepted.length)
        expect(done).toHaveLength(accepted.length)
        if (ending === 'stop') expect(accepted).toHaveLength(MESSAGES + 1)
      },
    )
  },
)
