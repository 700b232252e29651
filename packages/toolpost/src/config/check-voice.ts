import type { ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/** Checks what the voice gateway needs beyond what the schema expresses. */
export function checkVoice({ voice }: ToolpostConfig, source: ConfigSource): void {
  if (voice?.transcriber === 'whisper.cpp' && !voice.whisper)
    throw source.error(['voice', 'whisper'], "whisper.cpp needs a model file; set 'model'")
  if (voice?.speaker === 'piper' && voice.piperModel === undefined)
    throw source.error(['voice', 'piperModel'], 'piper needs a voice file (.onnx)')
}
