import { isWav } from '../audio/wav.ts'
import type { Utterance } from '../messages.ts'

/** Utterances arrive on these topics, and on the levels below, which name the conversation and its room. */
export const TEXT_TOPIC = 'voice/text'
export const AUDIO_TOPIC = 'voice/audio'

/** Why a message is not an utterance, with its id and conversation, so that its sender can be told. */
export interface RefusedMessage {
  readonly refused: string
  readonly conversation?: string | undefined
  readonly area?: string | undefined
  readonly id?: string | undefined
}

export const MAX_TEXT_BYTES = 10_000
export const MAX_AUDIO_BYTES = 40_000_000
/** JSON escapes one byte of text in up to six, and base64 turns three bytes into four. */
const MAX_TEXT_MESSAGE_BYTES = 6 * MAX_TEXT_BYTES + 4_000
const MAX_AUDIO_MESSAGE_BYTES = Math.ceil((MAX_AUDIO_BYTES * 4) / 3) + 100_000
const MAX_NAME_CHARACTERS = 200
/** Enough bytes to tell JSON and plain text from samples. */
const TELLING_BYTES = 64
const TOO_LONG = `the text is longer than ${MAX_TEXT_BYTES / 1_000} kB`
const TOO_LARGE = `the audio is larger than ${MAX_AUDIO_BYTES / 1_000_000} MB`
const NOT_AUDIO = '"audio" must be a WAV file or 16 kHz PCM in base64'

/** Parses a message on `voice/text` or `voice/audio`. Never throws. */
export function readUtterance(topic: string, payload: Uint8Array): Utterance | RefusedMessage {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const [, , ...levels] = topic.split('/')
  const place = levels.join('/').slice(0, MAX_NAME_CHARACTERS) || undefined
  const isAudio = topic === AUDIO_TOPIC || topic.startsWith(`${AUDIO_TOPIC}/`)
  const read = isAudio ? readAudioMessage(bytes) : readTextMessage(bytes)
  return { ...read, conversation: read.conversation ?? place, area: read.area ?? place }
}

function readTextMessage(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length > MAX_TEXT_MESSAGE_BYTES) return { refused: TOO_LONG }
  const text = decode(bytes)
  if (text === undefined) return { refused: 'the text is not valid UTF-8' }
  if (!text.trimStart().startsWith('{')) return textOf(text)
  return readJson(text, 'text', 'plain text', textOf)
}

function readAudioMessage(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length > MAX_AUDIO_MESSAGE_BYTES) return { refused: TOO_LARGE }
  const beginning = bytes.toString('latin1', 0, TELLING_BYTES)
  if (/^\s*\{\s*"[\x20-\x7e\s]*$/.test(beginning))
    return readJson(decode(bytes) ?? '', 'audio', 'a WAV file', audioOf)
  if (/^[\x20-\x7e\s]+$/.test(beginning))
    return { refused: `this is text, which belongs on ${TEXT_TOPIC}; expected a WAV file or 16 kHz PCM` }
  return soundOf(bytes)
}

function readJson(
  text: string,
  field: 'text' | 'audio',
  plain: string,
  read: (value: unknown) => Utterance | RefusedMessage,
): Utterance | RefusedMessage {
  let fields: Record<string, unknown> | undefined
  try {
    fields = JSON.parse(text) as Record<string, unknown>
  } catch {
    return { refused: `invalid JSON; expected {"${field}": "…"} or ${plain}` }
  }
  const { id, conversation, area } = fields
  const names = { id: nameOf(id), conversation: nameOf(conversation), area: nameOf(area) }
  const isGiven = (value: unknown) => value !== undefined && value !== null && value !== ''
  const wrong = (['id', 'conversation', 'area'] as const).find(
    key => names[key] === undefined && isGiven(fields[key]),
  )
  if (wrong)
    return { refused: `"${wrong}" must be a string of at most ${MAX_NAME_CHARACTERS} characters`, ...names }
  return { ...read(fields[field]), ...names }
}

/** A number is accepted as its digits. */
function nameOf(given: unknown): string | undefined {
  const value = typeof given === 'number' ? String(given) : given
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARACTERS
  return isName ? value.toWellFormed() : undefined
}

function textOf(text: unknown): Utterance | RefusedMessage {
  if (typeof text !== 'string') return { refused: '"text" must be a string' }
  const said = text.toWellFormed().trim()
  if (!/[^\p{C}\p{Z}]/u.test(said)) return { refused: 'the message is empty' }
  return Buffer.byteLength(said) > MAX_TEXT_BYTES ? { refused: TOO_LONG } : { text: said }
}

function audioOf(audio: unknown): Utterance | RefusedMessage {
  if (typeof audio !== 'string') return { refused: NOT_AUDIO }
  const base64 = audio.replace(/^data:[^,]{0,200};base64,/, '').replace(/\s+/g, '')
  return /^[\w+/-]*={0,2}$/.test(base64) ? soundOf(Buffer.from(base64, 'base64')) : { refused: NOT_AUDIO }
}

function soundOf(bytes: Buffer): Utterance | RefusedMessage {
  if (bytes.length === 0) return { refused: 'the message is empty' }
  if (bytes.length > MAX_AUDIO_BYTES) return { refused: TOO_LARGE }
  return isWav(bytes) ? { wav: bytes } : { pcm: bytes }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
