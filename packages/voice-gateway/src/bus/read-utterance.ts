import { isWav, knownKind } from '../audio/file-kind.ts'
import type { Utterance } from '../utterance.ts'
import { AUDIO_TOPIC, conversationOf, isAudioTopic, TEXT_TOPIC } from './topics.ts'

/** Why a message is not an utterance, with its id and conversation, so that its sender can be told. */
export interface RefusedMessage {
  readonly refused: string
  readonly conversation?: string | undefined
  readonly id?: string | undefined
}

export const MAX_TEXT_BYTES = 10_000
export const MAX_AUDIO_BYTES = 40_000_000
/** JSON escapes one byte of text in up to six, and base64 turns three bytes into four. */
const MAX_TEXT_MESSAGE_BYTES = 6 * MAX_TEXT_BYTES + 4_000
const MAX_AUDIO_MESSAGE_BYTES = Math.ceil((MAX_AUDIO_BYTES * 4) / 3) + 100_000
/** The longest JSON audio message without its audio: parsing is bounded, however long the recording. */
const MAX_FIELDS_CHARACTERS = 4_000
const MAX_NAME_CHARACTERS = 200
/** Enough bytes to tell JSON and plain text from samples. */
const TELLING_BYTES = 64

/** Parses a message on `voice/text` or `voice/audio`. Never throws. */
export function readUtterance(topic: string, payload: Uint8Array): Utterance | RefusedMessage {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const conversation = conversationOf(topic)?.slice(0, MAX_NAME_CHARACTERS)
  const read = isAudioTopic(topic) ? readAudioMessage(bytes) : readTextMessage(bytes)
  return { ...read, conversation: read.conversation ?? conversation }
}

function readTextMessage(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length > MAX_TEXT_MESSAGE_BYTES) return { refused: tooLong() }
  const text = decode(bytes)
  if (text === undefined) return { refused: 'the text is not valid UTF-8' }
  return text.trimStart().startsWith('{') ? readJson(text, textOf, TEXT_TOPIC) : textOf({ text })
}

function readAudioMessage(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length > MAX_AUDIO_MESSAGE_BYTES) return { refused: tooLarge() }
  const beginning = bytes.toString('latin1', 0, TELLING_BYTES)
  if (/^\s*\{\s*"[\x20-\x7e\s]*/.exec(beginning)?.[0] === beginning) {
    const text = decode(bytes)
    return text === undefined ? { refused: notJson(AUDIO_TOPIC) } : readAudioJson(text)
  }
  if (/^[\x20-\x7e\s]+$/.test(beginning)) {
    return {
      refused: `this is text, which belongs on ${TEXT_TOPIC}; expected a WAV file or 16 kHz PCM`,
    }
  }
  return soundOf(bytes)
}

function readAudioJson(text: string): Utterance | RefusedMessage {
  const key = /"audio"\s*:\s*"/.exec(text)
  const start = key ? key.index + key[0].length : text.length
  const end = key ? text.indexOf('"', start) : text.length
  const fields = end < 0 ? '' : text.slice(0, start) + text.slice(end)
  if (fields === '' || fields.length > MAX_FIELDS_CHARACTERS) return { refused: notJson(AUDIO_TOPIC) }
  const base64 = text.slice(start, end).replaceAll('\\/', '/')
  return readJson(fields, ({ audio }) => audioOf(audio === '' ? base64 : audio))
}

type Fields = Record<string, unknown>

function readJson(
  text: string,
  read: (fields: Fields) => Utterance | RefusedMessage,
  topic = AUDIO_TOPIC,
): Utterance | RefusedMessage {
  const fields = parse(text)
  if (!fields) return { refused: notJson(topic) }
  const names = { id: nameOf(fields.id), conversation: nameOf(fields.conversation) }
  const wrong = (['id', 'conversation'] as const).find(
    key => names[key] === undefined && isGiven(fields[key]),
  )
  if (wrong)
    return { refused: `"${wrong}" must be a string of at most ${MAX_NAME_CHARACTERS} characters`, ...names }
  return { ...read(fields), ...names }
}

function textOf({ text }: Fields): Utterance | RefusedMessage {
  if (typeof text !== 'string') return { refused: '"text" must be a string' }
  const said = text.toWellFormed().trim()
  if (!/[^\p{C}\p{Z}]/u.test(said)) return { refused: 'the message is empty' }
  return Buffer.byteLength(said) > MAX_TEXT_BYTES ? { refused: tooLong() } : { text: said }
}

function audioOf(audio: unknown): Utterance | RefusedMessage {
  const wanted = '"audio" must be a WAV file or 16 kHz PCM in base64'
  if (typeof audio !== 'string') return { refused: wanted }
  const base64 = audio.replace(/^data:[^,]{0,200};base64,/, '').replace(/\s+/g, '')
  return /^[\w+/-]*={0,2}$/.test(base64) ? soundOf(Buffer.from(base64, 'base64')) : { refused: wanted }
}

function soundOf(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length === 0) return { refused: 'the message is empty' }
  if (bytes.length > MAX_AUDIO_BYTES) return { refused: tooLarge() }
  // Reading another file type as WAV reports what it is; it must not be read as raw samples.
  return isWav(bytes) || knownKind(bytes) ? { wav: bytes } : { pcm: bytes }
}

function parse(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields
  } catch {
    return undefined
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A number is accepted as its digits. */
function nameOf(given: unknown): string | undefined {
  const value = typeof given === 'number' ? String(given) : given
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARACTERS
  return isName ? value.toWellFormed() : undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function notJson(topic: string): string {
  const [field, plain] = topic === TEXT_TOPIC ? ['text', 'plain text'] : ['audio', 'a WAV file']
  return `invalid JSON; expected {"${field}": "…"} or ${plain}`
}

function tooLong(): string {
  return `the text is longer than ${MAX_TEXT_BYTES / 1_000} kB`
}

function tooLarge(): string {
  return `the audio is larger than ${MAX_AUDIO_BYTES / 1_000_000} MB`
}
