import fc from 'fast-check'
import { recordingLogger } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import { Outbox, type OutgoingMessage } from './outbox.ts'

const message = (payload: unknown): OutgoingMessage => ({ topic: 'voice/response', payload: String(payload) })

/** A broker that gets messages, and acknowledges them when it is told to. */
function makeBroker() {
  const sent: string[] = []
  const acknowledgements: (() => void)[] = []
  return {
    sent,
    send: ({ payload }: OutgoingMessage, acknowledged: () => void) => {
      sent.push(payload)
      acknowledgements.push(acknowledged)
    },
    acknowledge: (count = 1) => {
      for (const tell of acknowledgements.splice(0, count)) tell()
    },
  }
}

describe('the outbox', () => {
  it('keeps messages until there is a connection, and sends them in order', () => {
    const outbox = new Outbox(recordingLogger())
    for (const name of ['a', 'b', 'c']) outbox.add(message(name))
    const broker = makeBroker()
    outbox.open(broker.send)
    outbox.add(message('d'))
    expect(broker.sent).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sends again what the broker did not acknowledge before the connection was lost', () => {
    const outbox = new Outbox(recordingLogger())
    const [first, second] = [makeBroker(), makeBroker()]
    outbox.open(first.send)
    for (const name of ['a', 'b', 'c']) outbox.add(message(name))
    first.acknowledge()
    outbox.shut()
    outbox.add(message('d'))
    outbox.open(second.send)
    expect(second.sent).toEqual(['b', 'c', 'd'])
    first.acknowledge(2)
    expect(outbox.size).toBe(3)
  })

  it('has a bounded number of messages on their way', () => {
    const outbox = new Outbox(recordingLogger())
    const broker = makeBroker()
    outbox.open(broker.send)
    for (let number = 0; number < 200; number++) outbox.add(message(number))
    expect(broker.sent).toHaveLength(50)
    broker.acknowledge(10)
    expect(broker.sent).toHaveLength(60)
  })

  it('loses the oldest ones where too many are kept, and says so once', () => {
    const logger = recordingLogger()
    const outbox = new Outbox(logger)
    for (let number = 0; number < 1_010; number++) outbox.add(message(number))
    const broker = makeBroker()
    outbox.open(broker.send)
    expect(outbox.size).toBe(1_000)
    expect(broker.sent[0]).toBe('10')
    expect(logger.at('warn')).toHaveLength(1)
  })

  it('tells when it is empty', async () => {
    const outbox = new Outbox(recordingLogger())
    await outbox.emptied()
    const broker = makeBroker()
    outbox.open(broker.send)
    outbox.add(message('a'))
    let isEmpty = false
    const emptied = outbox.emptied().then(() => {
      isEmpty = true
    })
    await Promise.resolve()
    expect(isEmpty).toBe(false)
    broker.acknowledge()
    await emptied
  })

  it('delivers everything in order at least once, however the connection comes and goes', () => {
    const steps = fc.array(fc.constantFrom('add', 'open', 'shut', 'acknowledge'), { maxLength: 60 })
    fc.assert(
      fc.property(steps, names => {
        const outbox = new Outbox(recordingLogger())
        const brokers = [makeBroker()]
        let count = 0
        for (const name of names) {
          if (name === 'add') outbox.add(message(count++))
          if (name === 'shut') outbox.shut()
          if (name === 'acknowledge') brokers.at(-1)?.acknowledge()
          if (name === 'open') outbox.open((brokers[brokers.push(makeBroker()) - 1] ?? makeBroker()).send)
        }
        const last = makeBroker()
        outbox.open(last.send)
        last.acknowledge(100)
        const all = [...brokers, last].flatMap(({ sent }) => sent)
        expect([...new Set(all)]).toEqual(Array.from({ length: count }, (_, number) => String(number)))
        expect(outbox.size).toBe(0)
      }),
    )
  })
})
