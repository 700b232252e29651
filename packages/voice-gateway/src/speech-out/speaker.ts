/** Speaks sentences: a voice that synthesizes speech, and a player. */
export interface Speaker {
  /** `espeak-ng through aplay`, for the log. */
  readonly name: string
  /** One sentence as a WAV file. Rejects with a SpeakerError, or when the signal is aborted. */
  synthesize(sentence: string, options: { signal: AbortSignal }): Promise<Uint8Array>
  /** Resolves when the sound has been played, or immediately when the signal is aborted. Rejects with a SpeakerError. */
  play(wav: Uint8Array, options: { signal: AbortSignal }): Promise<void>
}

/** Something could not be spoken. The message says why. */
export class SpeakerError extends Error {
  override name = 'SpeakerError'
}
