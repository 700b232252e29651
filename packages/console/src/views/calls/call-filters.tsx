import { useEffect, useMemo, useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { Choice } from '../../components/choice.tsx'
import { goInPlace } from '../../routing/use-route.ts'
import type { CallFilter } from '../../state/call-list.ts'
import { oneLine } from '../../text/visible-text.ts'
import { TimeRange } from './time-range.tsx'

const OUTCOMES = ['succeeded', 'failed', 'running', 'slow']
/** The search starts after this pause in typing. */
const TYPING_MS = 250

interface Props {
  calls: readonly CallRecord[]
  filter: CallFilter
  serial: string | undefined
}

/** The filters are part of the address, so that a filtered list can be bookmarked and shared. */
export function CallFilters({ calls, filter, serial }: Props) {
  const tools = useMemo(() => distinct(calls.map(call => call.tool)), [calls])
  const sources = useMemo(() => distinct(calls.map(call => call.source)), [calls])
  const origins = useMemo(() => distinct(calls.map(call => call.origin ?? '')), [calls])
  const callers = useMemo(() => distinct(calls.map(call => call.caller ?? '')), [calls])
  const set = (part: CallFilter) => goInPlace({ view: 'calls', serial, filter: { ...filter, ...part } })
  // On a phone the filters are collapsed, so that the calls come first.
  const [isOpen, setOpen] = useState(() =>
    Object.entries(filter).some(([name, value]) => name !== 'q' && value !== undefined),
  )
  const any = Object.values(filter).some(value => value !== undefined)
  return (
    <fieldset className={`filters ${isOpen ? 'filters-open' : ''}`}>
      <legend className="visually-hidden">Filters</legend>
      <SearchField value={filter.q} onChange={q => set({ q })} />
      <Button
        className="filters-toggle"
        icon="filter"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Filters
      </Button>
      <Choice label="Tool" value={filter.tool} choices={tools} onChange={tool => set({ tool })} />
      <Choice label="Source" value={filter.source} choices={sources} onChange={source => set({ source })} />
      <Choice
        label="Outcome"
        value={filter.outcome}
        choices={OUTCOMES}
        onChange={outcome => set({ outcome })}
      />
      <Choice label="From" value={filter.origin} choices={origins} onChange={origin => set({ origin })} />
      {(callers.length > 0 || filter.caller !== undefined) && (
        <Choice label="Caller" value={filter.caller} choices={callers} onChange={caller => set({ caller })} />
      )}
      <TimeRange filter={filter} onChange={set} />
      {filter.trace !== undefined && (
        <span className="filter-trace">
          Trace <code>{oneLine(filter.trace, 16)}</code>
          <Button look="quiet" onClick={() => set({ trace: undefined })}>
            All traces
          </Button>
        </span>
      )}
      {any && (
        <Button look="quiet" onClick={() => goInPlace({ view: 'calls', serial })}>
          Clear filters
        </Button>
      )}
    </fieldset>
  )
}

interface FieldProps {
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Searches when typing pauses, or immediately on blur, so that the next click sees the new filter. */
function SearchField({ value, onChange }: FieldProps) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when something is typed
  useEffect(() => {
    const wanted = text.trim() || undefined
    if (wanted === value) return
    const timer = setTimeout(() => onChange(wanted), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label className="filter filter-search">
      <span>Search</span>
      <input
        type="search"
        placeholder="Words in arguments, results, errors"
        value={text}
        onChange={event => setText(event.target.value)}
        onBlur={() => onChange(text.trim() || undefined)}
      />
    </label>
  )
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].filter(value => value !== '').sort((a, b) => a.localeCompare(b))
}
