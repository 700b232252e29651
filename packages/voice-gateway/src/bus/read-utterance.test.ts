import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_AUDIO_BYTES, MAX_TEXT_BYTES, readUtterance } from './read-utterance.ts'

const read = (topic: string, payload: string | Uint8Array) => readUtterance(topic, Buffer.from(payload))
const SILENCE = Buffer.alloc(320)
const WAV = Buffer.from('RIFF$\0\0\0WAVEfmt ', 'latin1')

describe('a message of voice/text', () => {
  it.each([
    ['turn on the light', { text: 'turn on the light' }],
    ['  grüße 灯\n', { text: 'grüße 灯' }],
    ['\ufeffwith a mark', { text: 'with a mark' }],
    ['21', { text: '21' }],
    ['"quoted"', { text: '"quoted"' }],
    ['[kitchen] on', { text: '[kitchen] on' }],
    ['{"text":"on"}', { text: 'on' }],
    [' {"text":"on","id":"7","conversation":"bath","more":1}', { text: 'on', id: '7', conversation: 'bath' }],
    ['{"text":"on","id":null,"conversation":""}', { text: 'on' }],
    ['{"text":"on","id":43}', { text: 'on', id: '43' }],
  ])('is a question: %j', (payload, utterance) => {
    expect(read('voice/text', payload)).toEqual(utterance)
  })

  it.each([
    ['', 'the message is empty'],
    [' \n\0\u200b ', 'the message is empty'],
    ['{"text":"  "}', 'the message is empty'],
    ['{"text":', 'invalid JSON; expected {"text": "…"} or plain text'],
    ['{turn on}', 'invalid JSON; expected {"text": "…"} or plain text'],
    ['{}', '"text" must be a string'],
    ['{"text":5}', '"text" must be a string'],
    ['{"text":"on","id":{}}', '"id" must be a string of at most 200 characters'],
    ['{"text":"on","conversation":[]}', '"conversation" must be a string of at most 200 characters'],
    ['{"audio":"AAAA"}', '"text" must be a string'],
    ['x'.repeat(MAX_TEXT_BYTES + 1), 'the text is longer than 10 kB'],
    [JSON.stringify({ text: 'x'.repeat(MAX_TEXT_BYTES + 1) }), 'the text is longer than 10 kB'],
    ['{'.repeat(1_000_000), 'the text is longer than 10 kB'],
    [Buffer.from([0x74, 0xff, 0xfe]), 'the text is not valid UTF-8'],
  ])('is refused with a reason: %.60j', (payload, refused) => {
    expect(read('voice/text', payload)).toMatchObject({ refused })
  })

  it('keeps the id and the conversation of what it refuses', () => {
    expect(read('voice/text', '{"text":5,"id":"7","conversation":"bath"}')).toEqual({
      refused: '"text" must be a string',
      id: '7',
      conversation: 'bath',
    })
  })

  it.each([
    ['voice/text', undefined],
    ['voice/text/', undefined],
    ['voice/text/kitchen', 'kitchen'],
    ['voice/text/upper/bath', 'upper/bath'],
    ['voice/audio/kitchen', 'kitchen'],
  ])('is of the conversation that %s names', (topic, conversation) => {
    const payload = topic.startsWith('voice/audio') ? SILENCE : 'hello'
    expect(read(topic, payload).conversation).toBe(conversation)
  })
})

describe('a message of voice/audio', () => {
  it('is samples, a WAV file, or either in JSON', () => {
    expect(read('voice/audio', SILENCE)).toEqual({ pcm: SILENCE })
    expect(read('voice/audio', WAV)).toEqual({ wav: WAV })
    const audio = WAV.toString('base64')
    expect(read('voice/audio', JSON.stringify({ audio, id: '7' }))).toEqual({ wav: WAV, id: '7' })
    expect(read('voice/audio', JSON.stringify({ audio: `data:audio/wav;base64,${audio}` }))).toEqual({
      wav: WAV,
    })
    expect(read('voice/audio', JSON.stringify({ audio: SILENCE.toString('base64') }))).toEqual({
      pcm: SILENCE,
    })
  })

  it('is samples if it only begins like JSON by chance', () => {
    const samples = Buffer.concat([Buffer.from('{"'), SILENCE])
    expect(read('voice/audio', samples)).toEqual({ pcm: samples })
  })

  it.each([
    'OggS\0\0',
    'fLaC\0',
    'ID3\x03\0',
    '\x1aE\xdf\xa3\x9f',
    '\0\0\0 ftypM4A \0',
    '#!AMR\n\0',
    'RIFF\0\0\0\0AVI ',
  ])('is not taken for samples if it is a file of another kind: %j', beginning => {
    const file = Buffer.from(beginning, 'latin1')
    expect(read('voice/audio', file)).toEqual({ wav: file })
  })

  it.each([
    ['', 'the message is empty'],
    ['turn on the light', 'this is text, which belongs on voice/text; expected a WAV file or 16 kHz PCM'],
    ['{"audio":"AAA', 'invalid JSON; expected {"audio": "…"} or a WAV file'],
    ['{"audio":5}', '"audio" must be a WAV file or 16 kHz PCM in base64'],
    ['{"audio":"no base64!"}', '"audio" must be a WAV file or 16 kHz PCM in base64'],
    ['{"audio":""}', 'the message is empty'],
    ['{"text":"on"}', '"audio" must be a WAV file or 16 kHz PCM in base64'],
    [Buffer.alloc(MAX_AUDIO_BYTES + 2), 'the audio is larger than 40 MB'],
  ])('is refused with a reason: %.40j', (payload, refused) => {
    expect(read('voice/audio', payload)).toMatchObject({ refused })
  })
})

describe('any message', () => {
  it.each([
    ['voice/audio', `{"a":${'['.repeat(50_000_000)}`],
    ['voice/audio', `{"audio":"AAAA","a":${'{"a":'.repeat(9_000_000)}`],
    ['voice/audio', `{"audio"${' '.repeat(50_000_000)}`],
    ['voice/text', `{"a":${'['.repeat(60_000)}`],
    ['voice/text', `{${'"'.repeat(60_000)}`],
  ])('that is huge and deep is refused with a reason, with little work (%#)', (topic, payload) => {
    const bytes = Buffer.from(payload)
    const heapBefore = process.memoryUsage().heapTotal
    expect(readUtterance(topic, bytes)).toMatchObject({ refused: expect.stringMatching(/invalid JSON/) })
    expect(process.memoryUsage().heapTotal - heapBefore).toBeLessThan(200_000_000)
  })

  it('with a recording in JSON may have its slashes escaped, and other fields around it', () => {
    const pcm = Buffer.from([0xff, 0xff, 0xfe, 0x7f])
    const audio = pcm.toString('base64').replaceAll('/', '\\/')
    const payload = `{"id": 7, "audio" : "${audio}", "conversation": "bath"}`
    const read = readUtterance('voice/audio', Buffer.from(payload))
    expect(read).toEqual({ pcm, id: '7', conversation: 'bath' })
  })

  const topics = fc.constantFrom('voice/text', 'voice/audio', 'voice/text/a', 'voice/audio/a/b')
  const json = fc
    .record(
      { text: fc.jsonValue(), audio: fc.jsonValue(), id: fc.jsonValue(), conversation: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map(value => Buffer.from(JSON.stringify(value)))
  const broken = fc.tuple(json, fc.nat(30)).map(([text, length]) => text.subarray(0, length))

  it('is an utterance with something in it, or refused with a reason', () => {
    fc.assert(
      fc.property(topics, fc.oneof(fc.uint8Array(), json, broken), (topic, payload) => {
        const message = readUtterance(topic, payload)
        if ('refused' in message) return void expect(message.refused).not.toBe('')
        const said = 'text' in message ? message.text : 'wav' in message ? message.wav : message.pcm
        expect(said.length).toBeGreaterThan(0)
        expect(['string', 'undefined']).toContain(typeof message.id)
      }),
    )
  })

  it('that is plain text comes as it was written', () => {
    const plain = fc
      .string({ unit: 'grapheme' })
      .filter(text => /[\p{L}\p{N}]/u.test(text) && !/^\s*\{/.test(text))
    fc.assert(
      fc.property(plain, text => {
        expect(readUtterance('voice/text', Buffer.from(text))).toEqual({ text: text.trim() })
      }),
    )
  })
})
