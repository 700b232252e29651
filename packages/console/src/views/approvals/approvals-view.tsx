import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { ErrorBoundary } from '../../components/error-boundary.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { useShowMore } from '../../components/show-more.tsx'
import { useWaiting } from '../../state/decisions.ts'
import { counted } from '../../text/figures.ts'
import { ApprovalCard } from './approval-card.tsx'
import { DecisionProblem } from './approval-notice.tsx'
import { DecidedList } from './decided-list.tsx'

const SHOWN_APPROVALS = 20

/** Calls waiting for a decision, oldest first, so that new ones move nothing. */
export function ApprovalsView() {
  const waiting = useWaiting()
  const [limit, more] = useShowMore(waiting?.length ?? 0, SHOWN_APPROVALS)
  if (waiting === undefined) return <Loading label="Loading approvals" rows={3} />
  return (
    <div className="approvals page">
      <PageHead title="Approvals" sub={waiting.length > 0 && `${counted(waiting.length, 'call')} waiting`} />
      <DecisionProblem />
      {waiting.length === 0 && (
        <EmptyState title="Nothing is waiting for approval" icon="approvals">
          <p>
            Calls that need approval under the policy appear here, and on top of any other view. To approve
            every destructive call first, add to <code>toolpost.json</code>:
          </p>
          <pre className="snippet">{`"policy": [\n  { "if": { "destructive": true }, "then": "ask" }\n]`}</pre>
        </EmptyState>
      )}
      <div className="approvals-list">
        {waiting.slice(0, limit).map((approval, at) => (
          <ErrorBoundary key={approval.id}>
            <ApprovalCard approval={approval} place={placeOf(waiting, at)} />
          </ErrorBoundary>
        ))}
      </div>
      {more}
      <DecidedList />
    </div>
  )
}

/** Changes when one before it is removed. */
function placeOf(waiting: readonly { id: string }[], at: number): string {
  return waiting
    .slice(0, at + 1)
    .map(({ id }) => id)
    .join()
}
