import { fakeClock, recordingLogger } from 'toolpost/testing'
import { describe, expect, it } from 'vitest'
import type { Utterance } from '../utterance.ts'
import { type Acceptance, type Delivery, Inbox } from './inbox.ts'

function open(answer: (utterance: Utterance) => Acceptance = () => ({ accepted: true })) {
  const logger = recordingLogger()
  const taken: Utterance[] = []
  const refused: object[] = []
  const clock = fakeClock()
  const inbox = new Inbox({
    logger,
    clock,
    onUtterance: utterance => {
      const acceptance = answer(utterance)
      if (acceptance.accepted) taken.push(utterance)
      return acceptance
    },
    onRefused: message => refused.push(message),
  })
  const take = (text: string, more: Partial<Delivery> = {}) =>
    inbox.take({
      topic: 'voice/text',
      payload: Buffer.from(text),
      qos: 1,
      messageId: 1,
      dup: false,
      retain: false,
      ...more,
    })
  return { inbox, take, taken, refused, logger, clock }
}

describe('the inbox', () => {
  it('takes the same words again: they are said again', () => {
    const { take, taken } = open()
    take('on')
    take('on', { messageId: 2 })
    take('on', { qos: 0, messageId: undefined })
    expect(taken).toHaveLength(3)
  })

  it('passes over what the broker sends a second time', () => {
    const { take, taken } = open()
    take('on')
    take('on', { dup: true })
    expect(taken).toHaveLength(1)
  })

  it.each([
    ['of another message id', { messageId: 2 }],
    ['on another topic', { topic: 'voice/text/bath' }],
    ['with other words', { payload: Buffer.from('off') }],
  ])('takes a second delivery whose first never came, %s', (_what, more) => {
    const { take, taken } = open()
    take('on')
    take('on', { dup: true, ...more })
    expect(taken).toHaveLength(2)
  })

  it('passes over what a broker repeats without saying so, after the connection was lost', () => {
    const { inbox, take, taken } = open()
    take('on')
    inbox.connectionLost()
    take('on')
    expect(taken).toHaveLength(1)
    take('on')
    expect(taken).toHaveLength(2)
  })

  it('passes over the repetition of what came in just before the connection was lost', () => {
    const { inbox, take, taken } = open()
    inbox.connectionLost()
    take('on', { isLate: true })
    take('on')
    expect(taken).toHaveLength(1)
  })

  it('takes a message of QoS 2 once until the broker releases it', async () => {
    const { inbox, take, taken, clock } = open()
    take('on', { qos: 2 })
    await clock.advance(60_000)
    inbox.connectionLost()
    take('on', { qos: 2 })
    take('on', { qos: 2 })
    expect(taken).toHaveLength(1)
    inbox.release(1)
    take('on', { qos: 2 })
    expect(taken).toHaveLength(2)
  })

  it('takes it for a new one if the acknowledgement must have arrived', async () => {
    const { inbox, take, taken, clock } = open()
    take('on')
    await clock.advance(2_001)
    inbox.connectionLost()
    take('on')
    expect(taken).toHaveLength(2)
  })

  it('forgets the deliveries of a broker that has forgotten us', () => {
    const { inbox, take, taken } = open()
    take('on')
    inbox.connectionLost()
    inbox.forgetDeliveries()
    take('on', { dup: true })
    expect(taken).toHaveLength(2)
  })

  it('takes an id once, whatever the message, and says nothing to the sender', () => {
    const { take, taken, refused, logger } = open()
    take('{"text":"on","id":"a"}')
    take('{"text":"on","id":"a"}', { messageId: 2, qos: 0 })
    take('{"text":"on","id":"b"}', { messageId: 3 })
    expect(taken).toEqual([
      { text: 'on', id: 'a' },
      { text: 'on', id: 'b' },
    ])
    expect(refused).toEqual([])
    expect(logger.text()).toContain('Ignored a message whose id was already used')
  })

  it('remembers the last thousand ids', () => {
    const { take, taken } = open()
    for (let id = 0; id <= 1_000; id++) take(`{"text":"on","id":"${id}"}`)
    take('{"text":"on","id":"1"}')
    expect(taken).toHaveLength(1_001)
    take('{"text":"on","id":"0"}')
    expect(taken).toHaveLength(1_002)
  })

  it('lets the sender try again with an id that was refused', () => {
    let isFull = true
    const { take, taken, refused } = open(() =>
      isFull ? { accepted: false, reason: '20 utterances are already waiting' } : { accepted: true },
    )
    take('{"text":"on","id":"a"}')
    expect(refused).toEqual([{ refused: '20 utterances are already waiting', id: 'a', question: 'on' }])
    isFull = false
    take('{"text":"on","id":"a"}', { dup: true })
    expect(taken).toHaveLength(1)
  })

  it('passes over what is retained', () => {
    const { take, taken, logger } = open()
    take('turn on the heater', { retain: true })
    expect(taken).toEqual([])
    expect(logger.text()).toContain('Ignored a retained message')
  })

  it('refuses junk with a reason and goes on', () => {
    const { take, taken, refused, logger } = open()
    take('{"text":')
    take('on', { topic: 'voice/text/bath' })
    expect(refused).toEqual([{ refused: expect.stringMatching(/invalid JSON/), question: '' }])
    expect(taken).toEqual([{ text: 'on', conversation: 'bath' }])
    expect(logger.at('warn')).toHaveLength(1)
  })

  it('survives an error in the utterance handler', () => {
    const { take, refused, logger } = open(() => {
      throw new Error('broken')
    })
    take('on')
    expect(refused).toEqual([{ refused: 'the voice gateway could not accept it', question: 'on' }])
    expect(logger.text()).toContain('broken')
  })

  it('refuses everything when it is closed', () => {
    const { inbox, take, taken, refused } = open()
    inbox.close()
    take('on')
    expect(taken).toEqual([])
    expect(refused).toEqual([{ refused: 'the voice gateway is shutting down', question: 'on' }])
  })
})
