import type { Interface } from 'node:readline'

/** The terminal at which a person is asked. */
export interface AskedTerminal {
  /** Shows a text, with control characters made harmless. */
  say(text: string): void
  output: NodeJS.WritableStream & { isTTY?: boolean }
  /** What the person types; standard input if left out. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  /** The line reader of a conversation already running there. */
  lines?: Interface
}

/** What was typed, or why nothing was: the terminal was closed, Escape was pressed, or the caller gave up. */
export type Typed = { text: string } | { ended: 'closed' | 'escape' | 'aborted' }

/** Reads one line. The prompt is shown unescaped. */
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
