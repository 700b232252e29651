/** Utterances arrive on these topics, and on the levels below, which name the conversation. */
export const TEXT_TOPIC = 'voice/text'
export const AUDIO_TOPIC = 'voice/audio'

/** What was heard, and the outcome. */
export const TRANSCRIPTION_TOPIC = 'voice/transcription'
export const RESPONSE_TOPIC = 'voice/response'
/** Questions asked before something is done. */
export const QUESTION_TOPIC = 'voice/question'

/** A filter with `#` includes the level above it. */
export const FILTERS = [`${TEXT_TOPIC}/#`, `${AUDIO_TOPIC}/#`]

/** `kitchen` of `voice/text/kitchen`; undefined if the topic names none. */
export function conversationOf(topic: string): string | undefined {
  const [, , ...levels] = topic.split('/')
  return levels.join('/') || undefined
}

export function isAudioTopic(topic: string): boolean {
  return topic === AUDIO_TOPIC || topic.startsWith(`${AUDIO_TOPIC}/`)
}
