import fc from 'fast-check'
import { readUtterance } from '../../packages/voice-gateway/dist/bus/read-utterance.js'

const payloads = fc.oneof(
  fc.uint8Array({ maxLength: 500 }),
  fc.json({ maxDepth: 4 }).map(text => Buffer.from(text)),
  fc
    .record(
      {
        text: fc.jsonValue({ maxDepth: 1 }),
        audio: fc.oneof(fc.base64String(), fc.jsonValue({ maxDepth: 1 })),
        id: fc.jsonValue({ maxDepth: 1 }),
        conversation: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    )
    .map(message => Buffer.from(JSON.stringify(message))),
)

/** Every message is an utterance or is refused with a reason. */
export const mqttTarget = {
  name: 'mqtt',
  inputs: fc.record({
    topic: fc.constantFrom(
      'voice/text',
      'voice/audio',
      'voice/text/kitchen',
      'voice/audio/',
      'voice/audio/a/b',
    ),
    payload: payloads,
  }),
  async check({ topic, payload }) {
    const read = readUtterance(topic, payload)
    const isKnown = ['text', 'wav', 'pcm', 'refused'].some(kind => kind in read)
    if (!isKnown) throw new Error(`neither an utterance nor refused: ${JSON.stringify(read)}`)
  },
}
