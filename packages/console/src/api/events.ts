import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { CallRecord, GatewayEvents } from 'toolpost/gateway'
import { create } from 'zustand'
import { parsedJson } from '../text/json-text.ts'
import { oneLine } from '../text/visible-text.ts'
import { announce } from '../ui/toast.tsx'
import { ApiError, isRecord, request } from './http.ts'
import { queryClient } from './queries.ts'
import { adoptOfferedToken, currentToken, keepToken } from './token.ts'

/** `token`: the gateway wants one, or has refused ours. */
type Connection =
  | { state: 'connecting' | 'open' }
  | { state: 'gone'; retryAt: number }
  | { state: 'token'; refused: boolean }

interface Live {
  connection: Connection
  /** Calls under way, by serial. */
  running: Record<string, CallRecord>
  /** Counts batches of calls that have ended, for views that show them. */
  ended: number
}

/** What only the event stream knows. Everything else it knows goes into the cache of requests. */
export const useLive = create<Live>()(() => ({
  connection: { state: 'connecting' },
  running: {},
  ended: 0,
}))

export const useIsOpen = () => useLive(live => live.connection.state === 'open')

/** The gateway sends a comment every 15 s: after this long without a byte, the connection is dead. */
const SILENCE_MS = 40_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 5_000
/** Events are shown in batches: a busy gateway must not freeze the page. */
const BATCH_MS = 150
/** Longer events are dropped. */
const MAX_EVENT_CHARACTERS = 32_000_000

let wake: (() => void) | undefined
let stream = new AbortController()

/** Tries to connect now instead of later. */
export function retryNow(): void {
  wake?.()
}

export function enterToken(token: string): void {
  keepToken(token)
  retryNow()
}

/** Runs for the lifetime of the page. */
export async function followGateway(): Promise<never> {
  let failures = 0
  // A token that was replaced ends the stream, whose next request then asks for the new one.
  queryClient.getQueryCache().subscribe(event => {
    if (event.type !== 'updated' || event.action.type !== 'error') return
    const { error } = event.action
    if (error instanceof ApiError && error.status === 401) stream.abort()
  })
  for (;;) {
    stream = new AbortController()
    try {
      const response = await request('/api/events', { signal: stream.signal })
      failures = 0
      // The stream begins with the running calls; the rest was missed while there was no connection.
      useLive.setState(({ ended }) => ({ connection: { state: 'open' }, running: {}, ended: ended + 1 }))
      void queryClient.invalidateQueries()
      await readEvents(response, handleEvent, SILENCE_MS)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        if (adoptOfferedToken()) continue
        useLive.setState({ connection: { state: 'token', refused: currentToken() !== undefined } })
        await new Promise<void>(resolve => (wake = resolve))
        continue
      }
    }
    failures += 1
    // The gateway may only have closed the stream: the first attempt follows at once.
    const delayMs = failures === 1 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2))
    const gone: Connection = { state: 'gone', retryAt: Date.now() + delayMs }
    useLive.setState({ connection: delayMs === 0 ? { state: 'connecting' } : gone })
    await new Promise<void>(resolve => {
      wake = resolve
      setTimeout(resolve, delayMs)
    })
  }
}

/** Reads a response as server-sent events until it ends, breaks, is aborted or falls silent. */
export async function readEvents(
  response: Response,
  onEvent: (event: EventSourceMessage) => void,
  silenceMs?: number,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const parser = createParser({
    onEvent,
    onError: ({ type }) => void (type === 'max-buffer-size-exceeded' && parser.reset()),
    maxBufferSize: MAX_EVENT_CHARACTERS,
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    while (reader) {
      clearTimeout(timer)
      if (silenceMs) timer = setTimeout(() => void reader.cancel().catch(() => {}), silenceMs)
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(value)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The data of an event; empty if it is not a JSON object. */
export function dataOf(event: EventSourceMessage): Record<string, unknown> {
  const data = parsedJson(event.data)?.value
  return isRecord(data) ? data : {}
}

function handleEvent(event: EventSourceMessage): void {
  const data = dataOf(event)
  switch (event.event) {
    case 'call':
      if (typeof data.serial === 'string') batchCall(data as unknown as CallRecord)
      return
    case 'progress':
      return showProgress(data as unknown as GatewayEvents['progress'])
    case 'servers':
    case 'approvals':
    case 'questions':
      return replaceList(event.event, data[event.event])
    case 'tools':
      return void queryClient.invalidateQueries({ queryKey: ['tools'] })
    case 'voice':
      return void queryClient.invalidateQueries({ queryKey: ['model'] })
    case 'timer':
      return announce(oneLine(String(data.text ?? ''), 300))
    case 'run':
      return void queryClient.invalidateQueries({ queryKey: ['runs'] })
  }
}

/** What the event says is newer than the answer to a request that is still under way. */
function replaceList(name: string, list: unknown): void {
  if (!Array.isArray(list)) return
  const queryKey = [name]
  void queryClient
    .cancelQueries({ queryKey })
    .then(() => queryClient.setQueryData(queryKey, list.filter(isRecord)))
}

let pending: CallRecord[] = []

function batchCall(call: CallRecord): void {
  if (pending.push(call) === 1) setTimeout(showBatch, BATCH_MS)
}

function showBatch(): void {
  const calls = pending
  pending = []
  useLive.setState(({ running, ended }) => {
    const next = { ...running }
    for (const call of calls) {
      if (call.result === undefined) next[call.serial] = call
      else delete next[call.serial]
    }
    return { running: next, ended: calls.some(call => call.result) ? ended + 1 : ended }
  })
}

function showProgress({ serial, ...progress }: GatewayEvents['progress']): void {
  showBatch()
  useLive.setState(({ running }) => {
    const call = running[serial]
    return { running: call ? { ...running, [serial]: { ...call, progress } } : running }
  })
}
