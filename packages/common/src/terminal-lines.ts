import type { Interface } from 'node:readline'

/** Where the person is. */
export interface AskedTerminal {
  /** Shows a text to the person, harmless whatever is in it. */
  say(text: string): void
  output: NodeJS.WritableStream & { isTTY?: boolean }
  /** What the person types; standard input if left out. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  /** The lines of a conversation that is held there already. */
  lines?: Interface
}

/** What was typed, or why nothing was: the terminal was closed, Escape pressed, or nobody needs it any more. */
export type Typed = { text: string } | { ended: 'closed' | 'escape' | 'aborted' }

/** Reads one line. The prompt is shown as it is. */
export function readLine(
  lines: Interface,
  prompt: string,
  { input, signal }: { input: NodeJS.ReadableStream; signal?: AbortSignal | undefined },
): Promise<Typed> {
  const asking = new AbortController()
  return new Promise(resolve => {
    const end = (typed: Typed) => {
      signal?.removeEventListener('abort', aborted)
      lines.off('close', closed)
      input.off('keypress', pressed)
      asking.abort()
      resolve(typed)
    }
    const aborted = () => end({ ended: 'aborted' })
    const closed = () => end({ ended: 'closed' })
    const pressed = (_: unknown, key?: { name?: string }) => {
      if (key?.name !== 'escape') return
      lines.write(null, { ctrl: true, name: 'u' })
      end({ ended: 'escape' })
    }
    if (signal?.aborted) return aborted()
    signal?.addEventListener('abort', aborted, { once: true })
    lines.once('close', closed)
    input.on('keypress', pressed)
    lines.question(prompt, { signal: asking.signal }, text => end({ text }))
  })
}
