import { useEffect, useRef } from 'react'
import type { CallOutcome } from '../../api/gateway-api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { ResultView } from '../../components/result-view.tsx'
import { useNow } from '../../components/use-now.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { type ToolRun, toolRuns } from '../../state/tool-runs.ts'
import { durationText } from '../../text/figures.ts'
import { clipped } from '../../text/visible-text.ts'

/** The progress and result of the last call from this page. The region exists first, so that screen readers announce it. */
export function RunResult({ tool }: { tool: string }) {
  const run = useStore(toolRuns, runs => runs[tool])
  const section = useShownWhenNew(run?.outcome)
  return (
    <section
      ref={section}
      className={`run-result ${run ? '' : 'run-result-none'}`}
      aria-label="Result"
      aria-live="polite"
    >
      {run === undefined && (
        <EmptyState title="No result yet" icon="play">
          Run the tool to see its result here.
        </EmptyState>
      )}
      {run && run.outcome === undefined && <Running run={run} />}
      {run?.outcome && <Ended tool={tool} outcome={run.outcome} />}
    </section>
  )
}

/** Scrolls a new result into view, in case it is below a long form. */
function useShownWhenNew(outcome: CallOutcome | undefined) {
  const section = useRef<HTMLElement>(null)
  const shown = useRef(outcome)
  useEffect(() => {
    if (outcome && outcome !== shown.current) section.current?.scrollIntoView({ block: 'nearest' })
    shown.current = outcome
  }, [outcome])
  return section
}

function Running({ run }: { run: ToolRun }) {
  const now = useNow(100)
  const progress = useStore(gateway, ({ calls }) => calls?.findLast(({ id }) => id === run.id)?.progress)
  return (
    <div className="card run-progress">
      <div className="result-head">
        <span className="running" role="status">
          <span className="spinner" aria-hidden="true" />
          Running
        </span>
        <span className="figure muted" aria-hidden="true">
          {durationText(Math.max(100, Math.round((now - run.startedAt) / 100) * 100))}
        </span>
      </div>
      <ProgressBar progress={progress} label="Progress of the call" />
    </div>
  )
}

function Ended({ tool, outcome }: { tool: string; outcome: CallOutcome }) {
  return (
    <div className="card">
      <OutcomeView outcome={outcome} />
      <div className="result-actions">
        {outcome.kind === 'result' && (
          <CopyButton label="Copy result" text={() => JSON.stringify(outcome.result, null, 2)} />
        )}
        <Button look="quiet" icon="close" onClick={() => toolRuns.clear(tool)}>
          Clear
        </Button>
      </div>
    </div>
  )
}

function OutcomeView({ outcome }: { outcome: CallOutcome }) {
  if (outcome.kind === 'result') return <ResultView result={outcome.result} />
  const wasCancelled = outcome.kind === 'cancelled'
  return (
    <div className="result">
      <p className="result-head">
        <Badge tone={wasCancelled ? 'warn' : 'bad'}>{wasCancelled ? 'Cancelled' : 'No result'}</Badge>
        {wasCancelled && <span className="figure">{durationText(outcome.afterMs)}</span>}
      </p>
      {!wasCancelled && <p className="failure-error">{clipped(outcome.message, 2_000)}</p>}
      <p className="muted">
        {wasCancelled ? 'The gateway was asked to cancel it.' : 'No answer arrived.'} The call may still have
        taken effect.
      </p>
    </div>
  )
}
