import { describe, expect, it } from 'vitest'
import { writeWav } from '../audio/wav.ts'
import { MAX_AUDIO_BYTES, MAX_TEXT_BYTES, readUtterance } from './read-utterance.ts'

const text = (payload: string, topic = 'voice/text') => readUtterance(topic, Buffer.from(payload))
const wav = Buffer.from(writeWav(new Float32Array(8)))
const pcm = Buffer.from([1, 2, 250, 4, 0, 6])

describe('a message', () => {
  it.each([
    ['turn on the light', { text: 'turn on the light' }],
    [
      ' {"text": "off", "id": 7, "conversation": "kitchen"} ',
      { text: 'off', id: '7', conversation: 'kitchen' },
    ],
    ['{"text": "off", "area": "Kitchen"}', { text: 'off', area: 'Kitchen' }],
  ])('of voice/text: %s', (payload, utterance) => {
    expect(text(payload)).toMatchObject(utterance)
  })

  it('names its conversation and its room by the topic, unless it says so itself', () => {
    expect(text('off', 'voice/text/kitchen')).toMatchObject({ conversation: 'kitchen', area: 'kitchen' })
    expect(text('{"text": "off", "conversation": "a", "area": "b"}', 'voice/text/c')).toMatchObject({
      conversation: 'a',
      area: 'b',
    })
  })

  it('of voice/audio is samples, a WAV file, or either in JSON', () => {
    const inJson = (bytes: Buffer) =>
      Buffer.from(JSON.stringify({ audio: bytes.toString('base64'), id: '1' }))
    expect(readUtterance('voice/audio', pcm)).toMatchObject({ pcm })
    expect(readUtterance('voice/audio/bath', wav)).toMatchObject({ wav, conversation: 'bath' })
    expect(readUtterance('voice/audio', inJson(wav))).toMatchObject({ wav, id: '1' })
    expect(readUtterance('voice/audio', inJson(pcm))).toMatchObject({ pcm, id: '1' })
  })

  it.each([
    ['voice/text', '', 'the message is empty'],
    ['voice/text', '{"text": 5}', '"text" must be a string'],
    ['voice/text', '{nonsense', 'invalid JSON; expected {"text": "…"} or plain text'],
    ['voice/text', '{"text": "a", "id": {}}', '"id" must be a string of at most 200 characters'],
    ['voice/text', 'x'.repeat(MAX_TEXT_BYTES + 1), 'the text is longer than 10 kB'],
    ['voice/audio', 'turn on the light', 'this is text, which belongs on voice/text'],
    ['voice/audio', '{"audio": "?"}', '"audio" must be a WAV file or 16 kHz PCM in base64'],
  ])('on %s is refused with a reason: %.20s', (topic, payload, reason) => {
    expect(readUtterance(topic, Buffer.from(payload))).toMatchObject({
      refused: expect.stringContaining(reason),
    })
  })

  it('that is too large is refused, with its id', () => {
    const sound = Buffer.alloc(MAX_AUDIO_BYTES + 2)
    expect(readUtterance('voice/audio', sound)).toMatchObject({ refused: 'the audio is larger than 40 MB' })
    expect(text('{"text": 5, "id": "7"}')).toMatchObject({ id: '7', refused: '"text" must be a string' })
  })
})
