/** Turns what somebody said into text: the voice gateway, where there is one. */
export interface VoiceInput {
  /** Resolves with the words, or with why there are none; never rejects. */
  transcribe(
    wav: Uint8Array,
    options: { signal: AbortSignal },
  ): Promise<{ text: string } | { problem: string }>
}
