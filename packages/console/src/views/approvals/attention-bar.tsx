import { useState } from 'react'
import type { Approval, OpenQuestion } from 'toolpost/gateway'
import { useNeeds } from '../../api/queries.ts'
import { useParts } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Button, LinkButton } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { askedBy, useDecide } from './approval-card.tsx'
import { QuestionCard } from './question-card.tsx'

/** What waits for a person, in a slim bar below every view but Approvals: the oldest of it. */
export function AttentionBar() {
  const { approvals, questions } = useNeeds()
  const [view] = useParts()
  const [approval] = approvals
  const [question] = questions
  if (view === 'approvals') return null
  if (question) return <QuestionBar key={question.id} question={question} />
  return approval ? <ApprovalBar approval={approval} more={approvals.length - 1} /> : null
}

const BAR = 'flex flex-wrap items-center justify-end gap-2 border-t border-line bg-warn-soft px-4 py-2'

function ApprovalBar({ approval, more }: { approval: Approval; more: number }) {
  const { isReady, decide } = useDecide(approval)
  return (
    <section className={BAR} aria-label="Waiting for approval">
      <p className="mr-auto min-w-0 basis-full truncate sm:flex-1 sm:basis-48">
        <strong>{callWords(approval.tool, approval.args)}</strong>{' '}
        <span className="text-muted">
          {oneLine(approval.tool, 60)}, asked by {askedBy(approval)}
        </span>
      </p>
      <LinkButton href="#/approvals" look="quiet">
        {more > 0 ? `Details and ${more} more` : 'Details'}
      </LinkButton>
      <Button aria-disabled={!isReady} onClick={() => decide({ decision: 'deny' })}>
        Deny
      </Button>
      <Button look="primary" aria-disabled={!isReady} onClick={() => decide({ decision: 'approve' })}>
        Allow once
      </Button>
    </section>
  )
}

function QuestionBar({ question }: { question: OpenQuestion }) {
  const [isOpen, setOpen] = useState(true)
  const who = oneLine(question.server ?? question.tool ?? 'A tool', 60)
  return (
    <section className={BAR} aria-label="Waiting for an answer">
      <p className="min-w-0 flex-1 truncate">
        <strong>{who} asks</strong> {oneLine(question.message, 200)}
      </p>
      <Button look="primary" onClick={() => setOpen(true)}>
        Answer
      </Button>
      <Dialog title={`${who} asks`} open={isOpen} onClose={() => setOpen(false)}>
        <QuestionCard question={question} />
      </Dialog>
    </section>
  )
}
