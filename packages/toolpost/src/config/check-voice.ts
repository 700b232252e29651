import { ConfigError, type ToolpostConfig } from './config.ts'

/** What the voice gateway cannot do without, beside what the schema says. */
export function checkVoice({ voice }: ToolpostConfig, file: string): void {
  if (voice?.transcriber === 'whisper.cpp' && !voice.whisper)
    throw new ConfigError(file, 'voice.whisper', "whisper.cpp needs the file of its model: set 'model'")
  if (voice?.speaker === 'piper' && voice.piperModel === undefined)
    throw new ConfigError(file, 'voice.piperModel', 'piper needs the .onnx file of a voice')
}
