/** The conversation of utterances that name none. */
export const DEFAULT_CONVERSATION = 'home'

/** Something said or written: text, a WAV file, or raw PCM (16 kHz, mono, 16 bits, little-endian). */
export type Utterance = ({ text: string } | { wav: Uint8Array } | { pcm: Uint8Array }) & {
  /** Who is talking; each conversation remembers what was said in it. */
  conversation?: string | undefined
  /** The sender's id, returned with the answer. Over MQTT, a repeated id is accepted only once. */
  id?: string | undefined
  /** It may have been meant for somebody else, so "not understood" is not spoken. */
  overheard?: boolean | undefined
}
