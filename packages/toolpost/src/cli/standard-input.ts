import { fstatSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** How long to wait for piped input: the parent process may have left a pipe open that will never send anything. */
const FIRST_WORD_MS = { needed: 1_000, possible: 150, none: 0 }

/**
 * The words of a call, completed from standard input: `-` reads all of it; without any words, a file is read, or a pipe,
 * which gets a while to send something if the tool needs arguments, and only a moment if they are optional.
 */
export async function withStandardInput(
  words: readonly string[],
  wants: keyof typeof FIRST_WORD_MS,
): Promise<readonly string[]> {
  if (words.length === 1 && words[0] === '-') return [await readAll()]
  if (words.length > 0) return words
  const kind = inputKind()
  if (kind === undefined || wants === 'none') return words
  if (kind === 'pipe' && !(await speaks(FIRST_WORD_MS[wants]))) return words
  const text = await readAll()
  // Input meant for something else, such as an answer to a question, must not break a call without arguments.
  const isMeant = wants === 'needed' ? text.trim() !== '' : /^\s*\{/.test(text)
  return isMeant ? [text] : words
}

function inputKind(): 'file' | 'pipe' | undefined {
  try {
    const input = fstatSync(0)
    if (input.isFile()) return 'file'
    return input.isFIFO() || input.isSocket() ? 'pipe' : undefined
  } catch {
    return undefined
  }
}

async function speaks(withinMs: number): Promise<boolean> {
  const readable = new Promise<boolean>(resolve => {
    process.stdin.once('readable', () => resolve(true))
    process.stdin.once('error', () => resolve(false))
  })
  const spoken = await Promise.race([readable, delay(withinMs, false, { ref: false })])
  if (!spoken) process.stdin.unref?.()
  return spoken
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
