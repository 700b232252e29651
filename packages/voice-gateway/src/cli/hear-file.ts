import { readFile } from 'node:fs/promises'
import { type AnswerFlags, answerOnce } from './answer-once.ts'
import type { CommandContext } from './context.ts'
import { UsageError } from './exit-codes.ts'

/** `voice-gateway hear file.wav`, or raw PCM as over MQTT. */
export async function hearFile(context: CommandContext, file: string, flags: AnswerFlags): Promise<number> {
  return answerOnce(context, { pcm: await readRecording(file, context.stop) }, flags)
}

const PROBLEMS: Record<string, string> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
}
const MAX_BYTES = 256 * 1024 * 1024

async function readRecording(file: string, stop: AbortSignal): Promise<Uint8Array> {
  if (file === '-') return readAll(stop)
  try {
    return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`${file} cannot be read: ${PROBLEMS[code ?? ''] ?? message}`, { cause: error })
  }
}

/** Everything up to the end of stdin, or until stopped. */
async function readAll(stop: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let bytes = 0
  stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  for await (const chunk of process.stdin.iterator()) {
    bytes += chunks[chunks.push(Buffer.from(chunk as Buffer)) - 1]?.length ?? 0
    if (bytes > MAX_BYTES) throw new UsageError(`The recording is larger than ${MAX_BYTES / 1024 / 1024} MB`)
  }
  return Buffer.concat(chunks)
}
