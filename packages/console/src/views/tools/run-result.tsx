import type { CallOutcome } from '../../api/gateway-api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ResultView } from '../../components/result-view.tsx'
import { useStore } from '../../state/store.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { durationText } from '../../text/figures.ts'
import { clipped } from '../../text/visible-text.ts'

/** How the last call from this page ended. The region exists before the result, so that screen readers announce it. */
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
            <Button look="quiet" onClick={() => toolRuns.clear(tool)}>
              Clear
            </Button>
          </div>
        </div>
      )}
    </section>
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
        {wasCancelled ? 'The gateway was told to stop.' : 'No answer arrived.'} The call may still have taken
        effect.
      </p>
    </div>
  )
}
