import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Provides the path of a WAV file that does not exist yet; it is always removed afterwards. */
export async function withTemporaryWav<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'voice-gateway-'))
  try {
    return await use(join(folder, 'speech.wav'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
