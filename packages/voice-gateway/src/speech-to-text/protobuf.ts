/** A field of an encoded message: its number, its whole encoding, and its content without tag and length. */
export interface Field {
  number: number
  encoded: Buffer
  content: Buffer
}

/** A message under construction: its parts are concatenated only once, however deeply nested. */
export type Parts = readonly Buffer[]

const VARINT = 0
const FIXED_64 = 1
const BYTES = 2
const FIXED_32 = 5

/** The fields of a message, in order; throws if it is malformed. */
export function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0
  while (at < message.length) {
    const start = at
    const [tag, afterTag] = varintAt(message, at)
    const wireType = tag % 8
    const [size, contentAt] = wireType === BYTES ? varintAt(message, afterTag) : [undefined, afterTag]
    at = contentAt + (size ?? sizeAt(message, contentAt, wireType))
    if (at > message.length) throw new Error('the protobuf message ends early')
    const encoded = message.subarray(start, at)
    yield { number: Math.floor(tag / 8), encoded, content: message.subarray(contentAt, at) }
  }
}

/** A field that holds text, bytes or a message. */
export function encodeField(number: number, content: Parts | string): Parts {
  const parts = typeof content === 'string' ? [Buffer.from(content)] : content
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  return [encodeVarint(number * 8 + BYTES), encodeVarint(size), ...parts]
}

export function encodeInteger(number: number, value: number): Parts {
  return [encodeVarint(number * 8 + VARINT), encodeVarint(value)]
}

function sizeAt(message: Buffer, at: number, wireType: number): number {
  if (wireType === VARINT) return varintAt(message, at)[1] - at
  if (wireType === FIXED_64) return 8
  if (wireType === FIXED_32) return 4
  throw new Error(`unknown protobuf wire type ${wireType}`)
}

/** The value, and where it ends. Larger values than a number can hold are only skipped here, so they may be inexact. */
function varintAt(message: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start; at < start + 10; at++) {
    const byte = message[at]
    if (byte === undefined) break
    value += (byte % 128) * 2 ** (7 * (at - start))
    if (byte < 128) return [value, at + 1]
  }
  throw new Error('the protobuf message has a malformed number')
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}
