/** The conversation of those who name none. */
export const DEFAULT_CONVERSATION = 'home'

/** Something that was said or written: text, a WAV file, or raw PCM (16 kHz, mono, 16 bits, little-endian). */
export type Utterance = ({ text: string } | { wav: Uint8Array } | { pcm: Uint8Array }) & {
  /** Who is talking; each conversation remembers what was said in it. */
  conversation?: string | undefined
  /** The sender's own name for it: comes back with the answer. Over MQTT, one that comes twice is taken once. */
  id?: string | undefined
  /** It may have been meant for somebody else: that it was not understood is not said aloud. */
  overheard?: boolean | undefined
}
