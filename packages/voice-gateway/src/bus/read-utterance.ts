import { isWav } from '../audio/wav.ts'
import type { Utterance } from '../messages.ts'

/** Utterances arrive on these topics, and on the levels below, which name the conversation and its room. */
export const TEXT_TOPIC = 'voice/text'
export const AUDIO_TOPIC = 'voice/audio'

type Names = Partial<Record<'conversation' | 'area' | 'id', string | undefined>>
/** What was said, or why a message is not an utterance, with its names, so that its sender can be told. */
type Read = Utterance | ({ readonly refused: string } & Names)

export const MAX_TEXT_BYTES = 10_000
export const MAX_AUDIO_BYTES = 40_000_000
/** JSON escapes one byte of text in up to six, and base64 turns three bytes into four. */
const MAX_TEXT_MESSAGE_BYTES = 6 * MAX_TEXT_BYTES + 4_000
const MAX_AUDIO_MESSAGE_BYTES = Math.ceil((MAX_AUDIO_BYTES * 4) / 3) + 100_000
const MAX_NAME_CHARACTERS = 200
/** Enough bytes to tell JSON and plain text from samples. */
const TELLING_BYTES = 64
const TOO_LONG = { refused: `the text is longer than ${MAX_TEXT_BYTES / 1_000} kB` }
const TOO_LARGE = { refused: `the audio is larger than ${MAX_AUDIO_BYTES / 1_000_000} MB` }
const NOT_AUDIO = { refused: '"audio" must be a WAV file or 16 kHz PCM in base64' }
const EMPTY = { refused: 'the message is empty' }

/** Parses a message on `voice/text` or `voice/audio`. Never throws. */
export function readUtterance(topic: string, payload: Uint8Array): Read {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const [, kind, ...levels] = topic.split('/')
  const place = levels.join('/').slice(0, MAX_NAME_CHARACTERS) || undefined
  const read = kind === 'audio' ? readAudioMessage(bytes) : readTextMessage(bytes)
  return { ...read, conversation: read.conversation ?? place, area: read.area ?? place }
}

function readTextMessage(bytes: Buffer): Read {
  if (bytes.length > MAX_TEXT_MESSAGE_BYTES) return TOO_LONG
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return { refused: 'the text is not valid UTF-8' }
  return text.trimStart().startsWith('{') ? readJson(text, 'text', 'plain text', textOf) : textOf(text)
}

function readAudioMessage(bytes: Buffer): Read {
  if (bytes.length > MAX_AUDIO_MESSAGE_BYTES) return TOO_LARGE
  const beginning = bytes.toString('latin1', 0, TELLING_BYTES)
  if (!/^[\x20-\x7e\s]+$/.test(beginning)) return soundOf(bytes)
  if (/^\s*\{/.test(beginning)) return readJson(bytes.toString(), 'audio', 'a WAV file', audioOf)
  return { refused: `this is text, which belongs on ${TEXT_TOPIC}; expected a WAV file or 16 kHz PCM` }
}

function readJson(text: string, field: string, plain: string, read: (value: unknown) => Read): Read {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(text)
  } catch {
    return { refused: `invalid JSON; expected {"${field}": "…"} or ${plain}` }
  }
  const { id, conversation, area } = fields
  const names = { id: nameOf(id), conversation: nameOf(conversation), area: nameOf(area) }
  const wrong = Object.entries(names).find(([key, name]) => name === undefined && Boolean(fields[key]))
  const refused = `"${wrong?.[0]}" must be a string of at most ${MAX_NAME_CHARACTERS} characters`
  return { ...(wrong ? { refused } : read(fields[field])), ...names }
}

/** A number is accepted as its digits. */
function nameOf(given: unknown): string | undefined {
  const value = typeof given === 'number' ? String(given) : given
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARACTERS
  return isName ? value.toWellFormed() : undefined
}

function textOf(text: unknown): Read {
  if (typeof text !== 'string') return { refused: '"text" must be a string' }
  const said = text.toWellFormed().trim()
  if (!/[^\p{C}\p{Z}]/u.test(said)) return EMPTY
  return Buffer.byteLength(said) > MAX_TEXT_BYTES ? TOO_LONG : { text: said }
}

function audioOf(audio: unknown): Read {
  if (typeof audio !== 'string') return NOT_AUDIO
  const base64 = audio.replace(/^data:[^,]{0,200};base64,/, '').replace(/\s+/g, '')
  return /^[\w+/-]*={0,2}$/.test(base64) ? soundOf(Buffer.from(base64, 'base64')) : NOT_AUDIO
}

function soundOf(bytes: Buffer): Read {
  if (bytes.length === 0) return EMPTY
  if (bytes.length > MAX_AUDIO_BYTES) return TOO_LARGE
  return isWav(bytes) ? { wav: bytes } : { pcm: bytes }
}
