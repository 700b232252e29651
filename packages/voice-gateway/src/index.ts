export { AudioError } from './audio/wav.ts'
export {
  BackgroundTranscriber,
  type BackgroundTranscriberOptions,
  type Taken,
} from './background-transcriber.ts'
export { connectMqttBus, type MqttBus, type MqttBusOptions } from './bus/mqtt-bus.ts'
export type { Decision, Heard } from './listening/decision.ts'
export type {
  Durations,
  Grammar,
  MadeCall,
  Meaning,
  QuestionMessage,
  ResponseMessage,
  TimerMessage,
  TranscriptionMessage,
  Utterance,
  VoiceBus,
} from './messages.ts'
export { findSpeaker, type Speaker, SpeakerError, type SpeakerOptions } from './speech-out/speaker.ts'
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
