import { readFile } from 'node:fs/promises'
import { type AnswerFlags, answerOnce } from './answer-once.ts'
import { UsageError } from './exit-codes.ts'
import type { VoiceSession } from './session.ts'

/** `voice-gateway hear file.wav` */
export async function hearFile(session: VoiceSession, file: string, flags: AnswerFlags): Promise<number> {
  return answerOnce(session, { wav: await readRecording(file) }, flags)
}

async function readRecording(file: string): Promise<Uint8Array> {
  if (file === '-') return readAll()
  try {
    return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = code === 'ENOENT' ? 'there is no such file' : message
    throw new UsageError(`${file} cannot be read: ${problem}`, { cause: error })
  }
}

async function readAll(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks)
}
