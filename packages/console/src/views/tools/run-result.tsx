import type { CallOutcome } from '../../api/gateway-api.ts'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ResultView } from '../../components/result-view.tsx'
import { useStore } from '../../state/store.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { durationText } from '../../text/figures.ts'

/** How the last call from this page ended. The region is there before the result, so that it is read out. */
export function RunResult({ tool }: { tool: string }) {
  const outcome = useStore(toolRuns, runs => runs[tool]?.outcome)
  return (
    <section className="run-result" aria-label="Result" aria-live="polite">
      {outcome && (
        <div className="card">
          <OutcomeView outcome={outcome} />
          <div className="result-actions">
            {outcome.kind === 'result' && (
              <CopyButton label="Copy result" text={() => JSON.stringify(outcome.result, null, 2)} />
            )}
            <button type="button" className="button button-quiet" onClick={() => toolRuns.clear(tool)}>
              Clear
            </button>
          </div>
        </div>
      )}
    </section>
  )
}

function OutcomeView({ outcome }: { outcome: CallOutcome }) {
  if (outcome.kind === 'result') return <ResultView result={outcome.result} />
  if (outcome.kind === 'cancelled')
    return (
      <div className="result">
        <p className="result-head">
          <Badge tone="warn">Cancelled</Badge>
          <span className="figure">{durationText(outcome.afterMs)}</span>
        </p>
        <p className="muted">The gateway was told to stop. What the tool had begun may have happened.</p>
      </div>
    )
  return (
    <div className="result">
      <p className="result-head">
        <Badge tone="bad">No result</Badge>
      </p>
      <p className="failure-error">{outcome.message}</p>
      <p className="muted">The call did not come back. Whether it was carried out is not known.</p>
    </div>
  )
}
