import { EventParser, type ServerEvent } from './event-parser.ts'

interface ReadOptions {
  /** The stream is given up after this long without a byte; the gateway sends a comment every 15 s. */
  silenceMs?: number
  onEvent: (event: ServerEvent) => void
}

/** Reads a response as server-sent events until it ends, breaks, is aborted or falls silent. */
export async function readEvents(response: Response, { silenceMs, onEvent }: ReadOptions): Promise<void> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const parser = new EventParser()
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = () => {
    clearTimeout(timer)
    if (silenceMs !== undefined) timer = setTimeout(() => void reader.cancel().catch(() => {}), silenceMs)
  }
  try {
    for (;;) {
      listen()
      const { done, value } = await reader.read()
      if (done) return
      for (const event of parser.push(value)) onEvent(event)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The data of an event; `undefined` where it is not JSON. */
export function dataOf<T>(event: ServerEvent): T | undefined {
  try {
    return JSON.parse(event.data) as T
  } catch {
    return undefined
  }
}
