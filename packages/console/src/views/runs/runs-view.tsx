import { useEffect } from 'react'
import type { Run } from 'toolpost/project'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { Columns } from '../../components/facts.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { hrefOf, type RunFilter } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { runs } from '../../state/runs.ts'
import { useStore } from '../../state/store.ts'
import { momentText, whenText } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'
import { RunDetail } from './run-detail.tsx'
import { RunFilters } from './run-filters.tsx'

const TONES: Record<Run['state'], Tone> = {
  waiting: 'plain',
  approval: 'warn',
  running: 'accent',
  done: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

interface Props {
  id: string | undefined
  filter: RunFilter | undefined
}

/** Calls that survive a crash, with their state. */
export function RunsView({ id, filter = {} }: Props) {
  const { list, isOn, hasMore, problem } = useStore(runs, state => state)
  const { state, tool } = filter
  useEffect(() => {
    runs.show({ state, tool })
    return () => runs.hide()
  }, [state, tool])
  if (isOn === false) return <TurnedOff />
  if (list === undefined && problem === undefined) return <Loading label="Loading runs" rows={6} />
  return (
    <div className={`page runs ${id === undefined ? '' : 'calls-detail'}`}>
      <div className="calls-main">
        <PageHead title="Runs" sub="Durable calls finish even after a crash" />
        {problem !== undefined && (
          <p className="notice notice-bad" role="alert">
            {oneLine(problem)} <Button onClick={() => void runs.refresh()}>Try again</Button>
          </p>
        )}
        <RunFilters filter={filter} runs={list ?? []} />
        {list?.length === 0 ? (
          <NoRuns isFiltered={state !== undefined || tool !== undefined} />
        ) : (
          <RunTable runs={list ?? []} selected={id} filter={filter} />
        )}
        {hasMore && <Button onClick={() => void runs.more()}>Load older</Button>}
      </div>
      {id !== undefined && <RunDetail key={id} id={id} filter={filter} />}
    </div>
  )
}

function TurnedOff() {
  return (
    <div className="page">
      <PageHead title="Runs" />
      <EmptyState title="Durable runs are off" icon="runs">
        <p>
          With them, an accepted call finishes even if Toolpost or the machine crashes, and work spreads over
          several machines. Install <code>toolpost-durable</code> and add to <code>toolpost.json</code>:
        </p>
        <pre className="snippet">{`"durable": true`}</pre>
        <p>That starts an embedded PostgreSQL. To use your own:</p>
        <pre className="snippet">{`"durable": { "databaseUrl": "\${DATABASE_URL}" }`}</pre>
      </EmptyState>
    </div>
  )
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No runs match the filters" icon="search" />
  return (
    <EmptyState title="No runs yet" icon="runs">
      Every durable call appears here, from the moment it is accepted.{' '}
      <a href={hrefOf({ view: 'tools' })}>Run a tool</a>.
    </EmptyState>
  )
}

function RunTable({
  runs: shown,
  selected,
  filter,
}: {
  runs: Run[]
  selected: string | undefined
  filter: RunFilter
}) {
  return (
    <table className="call-table run-table">
      <caption className="visually-hidden">Runs, newest first</caption>
      <Columns
        names={['Accepted', 'Tool', 'Worker', 'State', 'Attempts']}
        classes={{ Worker: 'wide-only', Attempts: 'numeric' }}
      />
      <tbody>
        {shown.map(run => (
          // The link in the row does the same for the keyboard.
          <tr
            key={run.id}
            className={run.id === selected ? 'row-current' : ''}
            onClick={() => go({ view: 'runs', id: run.id, filter })}
          >
            <td className="figure" title={timeText(run.created_at, momentText)}>
              {timeText(run.created_at, whenText)}
            </td>
            <td className="call-tool">
              <a
                href={hrefOf({ view: 'runs', id: run.id, filter })}
                aria-current={run.id === selected ? 'true' : undefined}
                onClick={event => event.stopPropagation()}
              >
                {oneLine(run.tool, 80)}
              </a>
              <span className="call-args">{shortJson(run.args, 90)}</span>
            </td>
            <td className="wide-only muted">{oneLine(run.worker ?? '', 40)}</td>
            <td>
              <RunBadge run={run} />
            </td>
            <td className="numeric figure">{run.attempts}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function RunBadge({ run }: { run: Run }) {
  const words = run.state === 'approval' ? 'waiting for approval' : oneLine(run.state, 40)
  return <Badge tone={TONES[run.state] ?? 'plain'}>{words}</Badge>
}

/** An ISO time formatted by `shown`; other text unchanged. */
export function timeText(iso: string, shown: (timeMs: number) => string): string {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? oneLine(iso, 40) : shown(time)
}
