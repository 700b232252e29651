import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { unharmed } from '../../toolpost/test/unharmed.ts'
import { aedesBroker, mosquitto } from './support/brokers.ts'
import { listen, openBus, openClient } from './support/bus.ts'
import { eventually } from './support/eventually.ts'
import { hasPart } from './support/system-parts.ts'

/** Many more than the gateway keeps on their way out. */
const MESSAGES = 3_000
const AT_ONCE = 100
/** They take a second or two; a busy machine gets a multiple of that. */
const PATIENCE_MS = 90_000

type Burst = () => Promise<void>

const BROKERS = [
  // It runs in this process, so that a probe would measure the broker.
  { name: 'aedes', isThere: true, start: () => aedesBroker(), probed: (burst: Burst) => burst() },
  {
    name: 'mosquitto',
    isThere: hasPart('mosquitto'),
    start: () => mosquitto({ persistence: false }),
    probed: (burst: Burst) => unharmed(burst),
  },
]

describe.each(BROKERS.filter(({ isThere }) => isThere))(
  'a burst of sentences on $name',
  ({ start, probed }) => {
    it.each([0, 1] as const)(
      'every one gets its response, even if all are refused (QoS %s)',
      async qos => {
        const { url } = await start()
        const { heard, ids } = await listen(url, 'voice/response')
        const { bus, logger } = openBus({
          url,
          onUtterance: () => ({ accepted: false, reason: '16 utterances are already waiting' }),
        })
        await bus.ready()
        const sender = await openClient(url)
        const say = (text: string, id: number) =>
          sender.publishAsync('voice/text', JSON.stringify({ text, id }), { qos })
        let sent = 0
        await probed(async () => {
          for (const end = sent + MESSAGES; sent < end; sent += AT_ONCE, await turn())
            await Promise.all(Array.from({ length: AT_ONCE }, (_, id) => say('turn on the lamp', sent + id)))
          await eventually(() => ids().length, PATIENCE_MS).toBe(sent)
        })
        expect(
          heard.every(({ body }) => body.outcome === 'dropped' && /waiting/.test(body.error ?? '')),
        ).toBe(true)
        expect(logger.text()).not.toContain('lost')
      },
      PATIENCE_MS,
    )
  },
)
