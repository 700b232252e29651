import type { Speaker } from '../speech-out/speaker.ts'

/** A speaker that knows whether it is currently playing. */
export interface WatchedSpeaker extends Speaker {
  readonly isPlaying: boolean
}

export function watchedSpeaker(speaker: Speaker): WatchedSpeaker {
  let sounds = 0
  return {
    get name() {
      return speaker.name
    },
    get isPlaying() {
      return sounds > 0
    },
    synthesize: (sentence, options) => speaker.synthesize(sentence, options),
    async play(wav, options) {
      sounds++
      try {
        await speaker.play(wav, options)
      } finally {
        sounds--
      }
    },
  }
}
