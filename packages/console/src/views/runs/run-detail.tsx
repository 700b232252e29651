import { useEffect } from 'react'
import type { Run } from 'toolpost/project'
import { cancelRun, runAgain } from '../../api/runs-api.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { Problem } from '../../components/problem.tsx'
import { ArgumentsAndResult } from '../../components/result-view.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { hrefOf, type RunFilter } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { runs } from '../../state/runs.ts'
import { useStore } from '../../state/store.ts'
import { durationText, momentText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { RunBadge, timeText } from './runs-view.tsx'

const UNDER_WAY: readonly Run['state'][] = ['waiting', 'approval', 'running']

export function RunDetail({ id, filter }: { id: string; filter: RunFilter }) {
  const run = useStore(runs, state => state.list?.find(one => one.id === id))
  useEffect(() => void runs.load(id), [id])
  const closed = { view: 'runs', filter } as const
  return (
    <aside
      className="call-detail card"
      aria-label={`Run ${oneLine(id, 60)}`}
      onKeyDown={event => event.key === 'Escape' && go(closed)}
    >
      <div className="view-head">
        <h2>Run</h2>
        <a className="icon-button" href={hrefOf(closed)} aria-label="Close">
          <Icon name="close" />
        </a>
      </div>
      {run ? <Body run={run} /> : <EmptyState title="No run with this id" icon="runs" />}
    </aside>
  )
}

function Body({ run }: { run: Run }) {
  return (
    <>
      <p className="call-title">
        <a href={hrefOf({ view: 'tools', tool: run.tool })}>{oneLine(run.tool)}</a> <RunBadge run={run} />
      </p>
      <Actions run={run} />
      <Facts facts={factsOf(run)} />
      <Steps run={run} />
      <ArgumentsAndResult args={run.args} result={run.result} />
    </>
  )
}

function Actions({ run }: { run: Run }) {
  const { problem, attempt } = useAttempt()
  const again = async () => {
    const id = await runAgain(run.id)
    if (id !== undefined) go({ view: 'runs', id })
  }
  return (
    <div className="call-actions">
      {UNDER_WAY.includes(run.state) ? (
        <Button icon="stop" onClick={() => void attempt(() => cancelRun(run.id))}>
          Cancel
        </Button>
      ) : (
        <Button icon="play" look="primary" onClick={() => void attempt(again)}>
          Run again
        </Button>
      )}
      <Problem text={problem} />
    </div>
  )
}

function factsOf(run: Run): Record<string, React.ReactNode> {
  const moment = (iso: string | undefined) => (iso === undefined ? undefined : timeText(iso, momentText))
  return {
    Accepted: moment(run.created_at),
    Started: moment(run.started_at),
    Ended: moment(run.ended_at),
    Took: tookText(run),
    Attempts: String(run.attempts),
    Worker: run.worker && oneLine(run.worker, 80),
    Pool: run.pool && oneLine(run.pool, 80),
    'Requested by': oneLine([run.caller, run.origin && `(${run.origin})`].filter(Boolean).join(' '), 80),
    Key: run.key && <code>{oneLine(run.key, 80)}</code>,
    ID: <code>{oneLine(run.id, 80)}</code>,
  }
}

function tookText({ started_at: from, ended_at: to }: Run): string | undefined {
  const ms = from && to ? Date.parse(to) - Date.parse(from) : Number.NaN
  return Number.isNaN(ms) ? undefined : durationText(Math.max(0, ms))
}

function Steps({ run }: { run: Run }) {
  if (run.steps.length === 0) return null
  return (
    <section>
      <h3>Steps</h3>
      <ol className="run-steps">
        {run.steps.map(({ name, at, worker }) => (
          <li key={`${name} ${at}`}>
            <span>{oneLine(name, 100)}</span>
            <span className="muted">{worker && oneLine(worker, 40)}</span>
            <span className="figure muted">{timeText(at, momentText)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
