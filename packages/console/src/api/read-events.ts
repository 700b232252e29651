import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Longer events are dropped. */
const MAX_EVENT_CHARACTERS = 32_000_000

interface ReadOptions {
  /** The stream is abandoned after this long without a byte; the gateway sends a comment every 15 s. */
  silenceMs?: number
  onEvent: (event: EventSourceMessage) => void
}

/** Reads a response as server-sent events until it ends, breaks, is aborted or falls silent. */
export async function readEvents(response: Response, { silenceMs, onEvent }: ReadOptions): Promise<void> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const onError = ({ type }: { type: string }) => type === 'max-buffer-size-exceeded' && parser.reset()
  const parser = createParser({ onEvent, onError, maxBufferSize: MAX_EVENT_CHARACTERS })
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
      parser.feed(value)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The data of an event; `undefined` if it is not JSON. */
export function dataOf(event: EventSourceMessage): unknown {
  try {
    return JSON.parse(event.data)
  } catch {
    return undefined
  }
}
