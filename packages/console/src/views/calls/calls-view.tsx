import { useMemo, useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { hrefOf } from '../../routing/route.ts'
import { goInPlace } from '../../routing/use-route.ts'
import { type CallFilter, filterCalls, withOlder } from '../../state/call-list.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { CallDetail } from './call-detail.tsx'
import { CallFilters } from './call-filters.tsx'
import { CallTable } from './call-table.tsx'
import { ExportButtons } from './export-button.tsx'
import { LatencyCard } from './latency-card.tsx'
import { useOlderCalls } from './use-older-calls.ts'

export function CallsView({ serial, filter }: { serial: string | undefined; filter: CallFilter }) {
  const live = useStore(gateway, state => state.calls)
  const [held, setHeld] = useState<CallRecord[]>()
  const followed = held ?? live
  const older = useOlderCalls(filter, followed ?? [])
  const calls = useMemo(() => followed && withOlder(followed, older.calls), [followed, older.calls])
  const found = useMemo(() => filterCalls(calls ?? [], filter), [calls, filter])
  if (calls === undefined) return <Loading label="Loading calls" rows={8} />
  const call = (live ?? calls).find(one => one.serial === serial) ?? calls.find(one => one.serial === serial)
  return (
    <div className={`page calls ${serial === undefined ? '' : 'calls-detail'}`}>
      <div className="calls-main">
        <PageHead title="Calls">
          <ExportButtons filter={filter} />
          <PauseButton
            paused={held !== undefined}
            missed={held && live ? newerThan(held, live) : 0}
            onToggle={() => setHeld(held ? undefined : live)}
          />
        </PageHead>
        <CallFilters calls={calls} filter={filter} serial={serial} />
        <LatencyCard calls={found} filter={filter} />
        {found.length > 0 ? (
          <CallTable
            calls={found}
            selected={serial}
            filter={filter}
            loaded={older.calls.length}
            end={<LoadOlder {...older} />}
          />
        ) : (
          <>
            {older.state !== 'loading' && <NoCalls any={calls.length > 0} />}
            <LoadOlder {...older} />
          </>
        )}
      </div>
      {serial !== undefined && <CallDetail key={serial} serial={serial} call={call} filter={filter} />}
    </div>
  )
}

function LoadOlder({ state, load }: ReturnType<typeof useOlderCalls>) {
  if (state === 'end') return <p className="muted">No older calls.</p>
  return (
    <button type="button" className="button" disabled={state === 'loading'} onClick={load}>
      {state === 'loading'
        ? 'Searching the history …'
        : state === 'failed'
          ? 'Older calls could not be loaded · try again'
          : 'Load older'}
    </button>
  )
}

function newerThan(held: CallRecord[], live: CallRecord[]): number {
  const last = held.at(-1)?.serial ?? ''
  return live.filter(call => call.serial > last).length
}

interface PauseProps {
  paused: boolean
  missed: number
  onToggle: () => void
}

/** Pauses a busy list for reading. */
function PauseButton({ paused, missed, onToggle }: PauseProps) {
  return (
    <Button look="quiet" className="live" aria-pressed={paused} onClick={onToggle}>
      <span className={`dot ${paused ? '' : 'dot-live'}`} aria-hidden="true" />
      {paused ? `Paused${missed > 0 ? `, ${missed} new` : ''} · resume` : 'Live · pause'}
    </Button>
  )
}

function NoCalls({ any }: { any: boolean }) {
  if (any)
    return (
      <EmptyState
        title="No calls match the filters"
        icon="search"
        action={<Button onClick={() => goInPlace({ view: 'calls' })}>Show all calls</Button>}
      />
    )
  return (
    <EmptyState title="No calls yet" icon="calls">
      Every call appears here as it happens, from any client.{' '}
      <a href={hrefOf({ view: 'tools' })}>Run a tool</a> or{' '}
      <a href={hrefOf({ view: 'chat' })}>ask for something</a>.
    </EmptyState>
  )
}
