import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ServerStatus } from 'toolpost/gateway'
import { type ServerMessage, serverMessages } from '../../api/gateway.ts'
import { messageOf } from '../../api/http.ts'
import { clockText, counted, durationText, sizeText } from '../../text/figures.ts'
import { jsonText } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Badge, Empty, Problem, Spinner } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Json } from '../../ui/json.tsx'
import { Select } from '../../ui/select.tsx'

/** The page follows the log at this pace while it is open. */
const POLL_MS = 1_000
/** As many as are kept here; older ones are dropped. */
const MAX_KEPT = 5_000

const KINDS = [
  { value: '', label: 'All messages' },
  { value: 'request', label: 'Requests' },
  { value: 'response', label: 'Responses' },
  { value: 'error', label: 'Errors' },
  { value: 'notification', label: 'Notifications' },
]
const DIRECTIONS = [
  { value: '', label: 'Both directions' },
  { value: 'sent', label: 'To the server' },
  { value: 'received', label: 'From the server' },
]

/** The JSON-RPC messages of a server, both directions, newest at the bottom. */
export function Messages({ server }: { server: ServerStatus }) {
  const log = useLog(server.name)
  const [words, setWords] = useState('')
  const [kind, setKind] = useState('')
  const [direction, setDirection] = useState('')
  const [open, setOpen] = useState<ServerMessage>()
  const shown = useMemo(() => {
    const wanted = words.toLowerCase()
    return (log.messages ?? []).filter(
      one =>
        (kind === '' || one.kind === kind) &&
        (direction === '' || one.direction === direction) &&
        (wanted === '' ||
          `${one.method ?? ''} ${jsonText(one.message, 4_000, 0).text}`.toLowerCase().includes(wanted)),
    )
  }, [log.messages, words, kind, direction])
  if (log.problem) return <Problem text={log.problem} />
  if (log.messages === undefined) return <Spinner label="Loading messages" />
  if (log.messages === null)
    return <p className="text-muted">This gateway does not keep the messages of its servers.</p>
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <input
          type="search"
          className="control w-auto min-w-40 flex-1"
          aria-label="Filter messages"
          placeholder="Method or content"
          value={words}
          onChange={event => setWords(event.target.value)}
        />
        <Select label="Kind" className="w-36" value={kind} options={KINDS} onChange={setKind} />
        <Select
          label="Direction"
          className="w-36"
          value={direction}
          options={DIRECTIONS}
          onChange={setDirection}
        />
        <span className="text-xs text-muted">{counted(shown.length, 'message')}</span>
      </div>
      {shown.length === 0 ? (
        <Empty title="No messages">{log.messages.length > 0 && 'None matches the filter.'}</Empty>
      ) : (
        <List messages={shown} onOpen={setOpen} />
      )}
      <Dialog
        title={open ? `${open.kind} ${oneLine(open.method ?? '', 60)}` : ''}
        open={open !== undefined}
        onClose={() => setOpen(undefined)}
      >
        <div className="p-4">
          {open && <Json value={open.message} label="Message" className="max-h-[70vh]" />}
        </div>
      </Dialog>
    </div>
  )
}

interface Log {
  /** `undefined` until loaded; `null` if the gateway keeps none. */
  messages?: ServerMessage[] | null
  problem?: string
}

function useLog(name: string): Log {
  const [log, setLog] = useState<Log>({})
  useEffect(() => {
    let after = 0
    let isOn = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      try {
        const added = await serverMessages(name, after)
        if (!isOn) return
        if (added === undefined) return setLog({ messages: null })
        after = added.at(-1)?.seq ?? after
        setLog(({ messages }) =>
          messages && added.length === 0
            ? { messages }
            : { messages: [...(messages ?? []), ...added].slice(-MAX_KEPT) },
        )
      } catch (error) {
        if (isOn) setLog(before => (before.messages ? before : { problem: messageOf(error) }))
      }
      if (isOn) timer = setTimeout(poll, POLL_MS)
    }
    void poll()
    return () => {
      isOn = false
      clearTimeout(timer)
    }
  }, [name])
  return log
}

function List({
  messages,
  onOpen,
}: {
  messages: readonly ServerMessage[]
  onOpen: (one: ServerMessage) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: messages.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    overscan: 20,
  })
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current && messages.length > 0) rows.scrollToIndex(messages.length - 1)
  }, [messages.length, rows])
  return (
    <section
      ref={box}
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
      tabIndex={0}
      className="card h-[50vh] overflow-y-auto"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40
      }}
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(item => {
          const message = messages[item.index]
          return (
            message && (
              <button
                key={message.seq}
                type="button"
                className="row absolute inset-x-0 top-0 border-b border-line px-3 text-left hover:bg-raised"
                style={{ height: item.size, transform: `translateY(${item.start}px)` }}
                onClick={() => onOpen(message)}
              >
                <Row message={message} />
              </button>
            )
          )
        })}
      </div>
    </section>
  )
}

function Row({ message }: { message: ServerMessage }) {
  const { direction, kind, method, id, duration_ms: duration, bytes, time } = message
  const isSent = direction === 'sent'
  const Arrow = isSent ? ArrowUpRight : ArrowDownLeft
  return (
    <>
      <span className="w-16 shrink-0 text-xs text-muted tabular-nums">
        {clockText(new Date(time).getTime())}
      </span>
      <Arrow
        size={14}
        className={isSent ? 'text-accent' : 'text-good'}
        aria-label={isSent ? 'sent' : 'received'}
      />
      <span className="shrink-0 font-mono text-xs">{oneLine(method ?? kind, 60)}</span>
      {kind === 'error' && <Badge tone="bad">error</Badge>}
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
        {oneLine(jsonText(bodyOf(message.message), 200, 0).text, 200)}
      </span>
      {id !== undefined && (
        <span className="hidden text-xs text-muted sm:inline">#{oneLine(String(id), 12)}</span>
      )}
      <span className="w-16 shrink-0 text-right text-xs text-muted tabular-nums">
        {duration === undefined ? '' : durationText(duration)}
      </span>
      <span className="hidden w-14 shrink-0 text-right text-xs text-muted tabular-nums sm:inline">
        {sizeText(bytes)}
      </span>
    </>
  )
}

/** The telling part: parameters, result or error. */
function bodyOf(message: unknown): unknown {
  const { params, result, error } = (message ?? {}) as Record<string, unknown>
  return params ?? result ?? error ?? {}
}
