const ASCII = new TextDecoder('latin1')

/** Signatures of other file types, by offset. */
const signatures: [offset: number, text: string, kind: string][] = [
  [0, 'OggS', 'an Ogg file'],
  [0, 'fLaC', 'a FLAC file'],
  [0, '\x1aE\xdf\xa3', 'a WebM file'],
  [4, 'ftyp', 'an M4A or MP4 file'],
  [0, 'ID3', 'an MP3 file'],
  [0, 'FORM', 'an AIFF file'],
  [0, 'caff', 'a CAF file'],
  [0, '#!AMR', 'an AMR file'],
  [0, '.snd', 'an AU file'],
  [0, 'RIFX', 'a big-endian WAV file'],
  [0, 'RIFF', 'a RIFF file without sound'],
  [0, '\x1f\x8b\x08', 'a gzip archive'],
  [0, 'PK\x03\x04', 'a zip archive'],
  [0, '%PDF-', 'a PDF document'],
  [0, '\x89PNG', 'a picture (PNG)'],
  [0, '\xff\xd8\xff', 'a picture (JPEG)'],
]

const LOOKS_AT_BYTES = 512
/** Fewer bytes could be sound by chance. */
const LEAST_TEXT_BYTES = 16

/** The file type of these bytes, if certain: raw sound is never mistaken for something else. */
export function knownKind(bytes: Uint8Array): string | undefined {
  const start = ASCII.decode(bytes.subarray(0, 16))
  const found = signatures.find(([offset, text]) => start.startsWith(text, offset))
  if (found) return found[2]
  return bytes.length >= LEAST_TEXT_BYTES && isText(bytes) ? 'text' : undefined
}

/** What bytes that should have been a WAV file look like. */
export function likelyKind(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty'
  return knownKind(bytes) ?? (isMpegFrame(bytes) ? 'an MP3 file' : isText(bytes) ? 'text' : 'unknown data')
}

export function isWav(bytes: Uint8Array): boolean {
  const start = ASCII.decode(bytes.subarray(0, 12))
  return /^(RIFF|RF64|BW64).{4}WAVE$/s.test(start)
}

function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0
}

function isText(bytes: Uint8Array): boolean {
  return bytes.subarray(0, LOOKS_AT_BYTES).every(byte => (byte >= 0x20 && byte < 0x7f) || isBlank(byte))
}

function isBlank(byte: number): boolean {
  return byte === 0x09 || byte === 0x0a || byte === 0x0d
}
