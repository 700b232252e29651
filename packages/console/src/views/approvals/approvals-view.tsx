import { isRecord } from '../../api/http.ts'
import { useNeeds } from '../../api/queries.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Badge, Empty, Section, ViewHead } from '../../ui/controls.tsx'
import { CallRow } from '../calls/call-row.tsx'
import { useLatestCalls } from '../calls/use-history.ts'
import { ApprovalCard } from './approval-card.tsx'
import { QuestionCard } from './question-card.tsx'

/** Calls that wait for a decision, questions that wait for an answer, and what was decided. */
export function ApprovalsView() {
  const { approvals, questions } = useNeeds()
  return (
    <>
      <ViewHead title="Approvals" />
      <div className="flex max-w-4xl flex-col gap-5 p-4">
        {questions.map(question => (
          <article key={question.id} className="card" aria-label="Question">
            <QuestionCard question={question} />
          </article>
        ))}
        {approvals.map(approval => (
          <ApprovalCard key={approval.id} approval={approval} />
        ))}
        {approvals.length + questions.length === 0 && (
          <Empty title="Nothing is waiting">
            Calls that a policy asks about appear here until they are allowed or denied.
          </Empty>
        )}
        <Decided />
      </div>
    </>
  )
}

function Decided() {
  const { data: calls = [] } = useLatestCalls(200)
  const decided = calls.filter(call => isRecord(call.approval)).slice(0, 20)
  if (decided.length === 0) return null
  return (
    <Section title="Recently decided">
      <ul className="card divide-y divide-line">
        {decided.map(call => {
          const { decision = 'denied', by = '' } = isRecord(call.approval) ? call.approval : {}
          const isAllowed = decision === 'approved'
          return (
            <CallRow key={call.serial} call={call}>
              <span className="truncate text-xs text-muted">{oneLine(String(by), 40)}</span>
              <Badge tone={isAllowed ? 'good' : 'warn'}>
                {isAllowed ? 'allowed' : oneLine(String(decision), 20)}
              </Badge>
            </CallRow>
          )
        })}
      </ul>
    </Section>
  )
}
