import { useQuery } from '@tanstack/react-query'
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import type { LoggedMessage } from 'toolpost/mcp'
import { serverMessages } from '../../api/gateway.ts'
import { queryClient } from '../../api/queries.ts'
import { clockText, counted, durationText, sizeText } from '../../text/figures.ts'
import { jsonText } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Badge, Empty, Pending } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Json } from '../../ui/json.tsx'
import { Select } from '../../ui/select.tsx'
import { StayAtEnd } from '../../ui/stay-at-end.tsx'

/** The page follows the log at this pace while it is open. */
const POLL_MS = 1_000
/** As many as the gateway keeps. */
const MAX_KEPT = 500

/** By kind or by direction. */
const FILTERS = [
  { value: '', label: 'All messages' },
  { value: 'request', label: 'Requests' },
  { value: 'response', label: 'Responses' },
  { value: 'error', label: 'Errors' },
  { value: 'notification', label: 'Notifications' },
  { value: 'sent', label: 'To the server' },
  { value: 'received', label: 'From the server' },
]

/** The JSON-RPC messages of a server, both directions, newest at the bottom. */
export function Messages({ server }: { server: string }) {
  const { data: messages, error } = useMessages(server)
  const [words, setWords] = useState('')
  const [filter, setFilter] = useState('')
  const [open, setOpen] = useState<LoggedMessage>()
  const shown = useMemo(() => {
    const wanted = words.toLowerCase()
    return messages?.filter(
      one =>
        ['', one.kind, one.direction].includes(filter) &&
        (wanted === '' ||
          `${one.method ?? ''} ${jsonText(one.message, 4_000, 0)}`.toLowerCase().includes(wanted)),
    )
  }, [messages, words, filter])
  if (!messages || !shown) return <Pending label="Loading messages" error={error} />
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
        <Select label="Show" className="w-36" value={filter} options={FILTERS} onChange={setFilter} />
        <span className="text-xs text-muted">{counted(shown.length, 'message')}</span>
      </div>
      {shown.length === 0 ? (
        <Empty title="No messages">{messages.length > 0 && 'None matches the filter.'}</Empty>
      ) : (
        <StayAtEnd label="Messages" content={shown} className="card h-[50vh]">
          {shown.map(message => (
            <Row key={message.seq} message={message} onOpen={setOpen} />
          ))}
        </StayAtEnd>
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

/** Only what is new is asked for. */
function useMessages(server: string) {
  const queryKey = ['messages', server]
  return useQuery({
    queryKey,
    queryFn: async () => {
      const known = queryClient.getQueryData<LoggedMessage[]>(queryKey) ?? []
      const added = await serverMessages(server, known.at(-1)?.seq ?? 0)
      return added.length > 0 ? [...known, ...added].slice(-MAX_KEPT) : known
    },
    refetchInterval: POLL_MS,
    structuralSharing: false,
    gcTime: 0,
  })
}

interface RowProps {
  message: LoggedMessage
  onOpen: (message: LoggedMessage) => void
}

const Row = memo(function Row({ message, onOpen }: RowProps) {
  const { direction, kind, method, id, duration_ms: duration, bytes, time } = message
  const isSent = direction === 'sent'
  const Arrow = isSent ? ArrowUpRight : ArrowDownLeft
  return (
    <button
      type="button"
      className="row h-[30px] w-full border-b border-line px-3 text-left hover:bg-raised"
      onClick={() => onOpen(message)}
    >
      <span className="w-16 shrink-0 text-xs text-muted tabular-nums">{clockText(Date.parse(time))}</span>
      <Arrow
        size={14}
        className={isSent ? 'text-accent' : 'text-good'}
        aria-label={isSent ? 'sent' : 'received'}
      />
      <span className="shrink-0 font-mono text-xs">{oneLine(method ?? kind, 60)}</span>
      {kind === 'error' && <Badge tone="bad">error</Badge>}
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
        {oneLine(jsonText(bodyOf(message.message), 200, 0))}
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
    </button>
  )
})

/** The telling part: parameters, result or error. */
function bodyOf(message: unknown): unknown {
  const { params, result, error } = (message ?? {}) as Record<string, unknown>
  return params ?? result ?? error ?? {}
}
