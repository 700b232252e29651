import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLive } from '../../api/events.ts'
import { type CallFilter, exportCalls } from '../../api/gateway.ts'
import { useServers } from '../../api/queries.ts'
import { go, hrefTo, useParts, useQueryParams } from '../../router.ts'
import { oneLine } from '../../text/visible-text.ts'
import { saveAs } from '../../ui/code.tsx'
import { IconButton, ViewHead } from '../../ui/controls.tsx'
import { useListKeys } from '../../ui/list-keys.ts'
import { Select } from '../../ui/select.tsx'
import { attempt } from '../../ui/toast.tsx'
import { CallDetail } from './call-detail.tsx'
import { CallList } from './call-list.tsx'
import { useHistory } from './use-history.ts'

const OUTCOMES = [
  { value: '', label: 'Any outcome' },
  { value: 'ok', label: 'ok' },
  { value: 'failed', label: 'All failures' },
  ...[
    'tool_error',
    'invalid_arguments',
    'timeout',
    'cancelled',
    'unavailable',
    'denied',
    'limited',
    'unknown_tool',
    'invalid_schema',
  ].map(value => ({ value, label: value.replaceAll('_', ' ') })),
]
const TIMES = [
  { value: '', label: 'Any time' },
  { value: '15m', label: 'Last 15 min' },
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last week' },
]
/** Filters that come from links; each is shown with a way to remove it. */
const LINKED = ['tool', 'caller', 'origin', 'trace'] as const

/** Every call there was, searched and filtered by the gateway, and the chosen one beside the list. */
export function HistoryView() {
  const [, serial] = useParts()
  const filter: CallFilter = useQueryParams()
  const history = useHistory(filter)
  const running = useLive(live => live.running)
  const isFiltered = Object.values(filter).some(Boolean)
  const { data: finished = [] } = history
  const calls = isFiltered ? finished : [...Object.values(running).reverse(), ...finished]
  const hrefOf = (id?: string) => hrefTo(id === undefined ? ['calls'] : ['calls', id], filter)
  useListKeys({ ids: calls.map(call => call.serial), current: serial, hrefOf })
  return (
    <div className="flex min-h-0 flex-1">
      <div className={`min-h-0 min-w-0 flex-1 flex-col md:flex ${serial ? 'hidden' : 'flex'}`}>
        <ViewHead title="History">
          <IconButton
            icon={Download}
            label="Save these calls as JSON"
            onClick={() => void attempt(async () => saveAs(await exportCalls(filter), 'calls.jsonl'))}
          />
        </ViewHead>
        <Filters filter={filter} serial={serial} />
        <CallList history={history} calls={calls} current={serial} filter={filter} />
      </div>
      {serial && (
        <div className="min-h-0 w-full overflow-y-auto border-line md:w-1/2 md:shrink-0 md:border-l xl:w-[44rem]">
          <CallDetail key={serial} serial={serial} onClose={() => go(hrefOf())} />
        </div>
      )}
    </div>
  )
}

function Filters({ filter, serial }: { filter: CallFilter; serial: string | undefined }) {
  const { data: servers = [] } = useServers()
  const [words, setWords] = useState(filter.q ?? '')
  const asked = words.trim()
  const parts = serial ? ['calls', serial] : ['calls']
  const set = (part: CallFilter) => go(hrefTo(parts, { ...filter, ...part }), { replace: true })
  useEffect(() => {
    if (asked === (filter.q ?? '')) return
    const timer = setTimeout(() => set({ q: asked }), 250)
    return () => clearTimeout(timer)
  })
  const sources = [
    { value: '', label: 'Any server' },
    { value: 'local', label: 'local' },
    ...servers.map(({ name }) => ({ value: name, label: oneLine(name, 40) })),
  ]
  const selects = [
    { part: 'outcome', label: 'Outcome', width: 'w-36', options: OUTCOMES },
    { part: 'server', label: 'Server', width: 'w-32', options: sources },
    { part: 'since', label: 'Time', width: 'w-32', options: TIMES },
  ] as const
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
      <input
        type="search"
        className="control w-auto min-w-40 flex-1"
        aria-label="Search calls"
        placeholder="Search tools, arguments and results"
        value={words}
        onChange={event => setWords(event.target.value)}
      />
      {selects.map(({ part, label, width, options }) => (
        <Select
          key={part}
          label={label}
          className={width}
          value={filter[part] ?? ''}
          options={options}
          onChange={value => set({ [part]: value })}
        />
      ))}
      {LINKED.filter(name => filter[name]).map(name => (
        <span key={name} className="row gap-0 rounded-md bg-raised pl-2">
          <span className="max-w-48 truncate">
            {name}: {oneLine(filter[name] ?? '', 60)}
          </span>
          <IconButton label={`Remove the filter ${name}`} onClick={() => set({ [name]: '' })} />
        </span>
      ))}
    </div>
  )
}
