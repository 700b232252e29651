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

/** What waits for a decision, oldest first: what arrives moves nothing. */
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
            Calls that the policy asks about appear here, and wherever you are on this page. To be asked about
            every call that can destroy something, add to <code>toolpost.json</code>:
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

/** Changes when one before it goes. */
function placeOf(waiting: readonly { id: string }[], at: number): string {
  return waiting
    .slice(0, at + 1)
    .map(({ id }) => id)
    .join()
}
