export { AudioError } from './audio/samples.ts'
export {
  BackgroundTranscriber,
  type BackgroundTranscriberOptions,
  type Taken,
} from './background-transcriber.ts'
export { connectMqttBus, type MqttBus, type MqttBusOptions } from './bus/mqtt-bus.ts'
export type {
  Durations,
  MadeCall,
  QuestionMessage,
  ResponseMessage,
  TranscriptionMessage,
  VoiceBus,
} from './bus/voice-bus.ts'
export type { Decision, Heard } from './listening/decision.ts'
export type { Grammar, Meaning } from './sentences.ts'
export { findSpeaker, type SpeakerOptions } from './speech-out/find-speaker.ts'
export { type Speaker, SpeakerError } from './speech-out/speaker.ts'
export { type MoonshineOptions, MoonshineTranscriber } from './speech-to-text/moonshine-transcriber.ts'
export {
  type HeardSentence,
  type Listened,
  type TranscribeOptions,
  type Transcriber,
  TranscriberError,
} from './speech-to-text/transcriber.ts'
export { type WhisperOptions, WhisperTranscriber } from './speech-to-text/whisper-transcriber.ts'
export type { PartStatus } from './start-up/parts.ts'
export {
  startVoice,
  type Transcription,
  type VoiceGateway,
  type VoiceOptions,
  type VoiceProject,
} from './start-up/start-voice.ts'
export type { Utterance } from './utterance.ts'
