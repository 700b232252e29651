/** Speaks sentences: a voice that makes sound of text, and something that plays it. */
export interface Speaker {
  /** `espeak-ng through aplay`, for the log. */
  readonly name: string
  /** One sentence as a WAV file. Rejects with a SpeakerError, and when the signal is aborted. */
  synthesize(sentence: string, options: { signal: AbortSignal }): Promise<Uint8Array>
  /** Resolves when the sound has been heard. Rejects with a SpeakerError; resolves at once when the signal is aborted. */
  play(wav: Uint8Array, options: { signal: AbortSignal }): Promise<void>
}

/** Something could not be spoken. The message says why. */
export class SpeakerError extends Error {
  override name = 'SpeakerError'
}
