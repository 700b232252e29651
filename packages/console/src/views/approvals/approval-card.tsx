import { useState } from 'react'
import type { Approval } from 'toolpost/gateway'
import type { ApprovalDecision } from '../../api/gateway-api.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { JsonBlock } from '../../components/code-block.tsx'
import { Facts } from '../../components/facts.tsx'
import { useSecondsTo } from '../../components/use-now.ts'
import { decisions } from '../../state/decisions.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { clipped, oneLine } from '../../text/visible-text.ts'
import { useFocusBack, useSettled } from './steady.ts'

/** How long a decision applies, with the labels of the buttons. */
const HOLDS = {
  once: { choice: 'This call only', approve: 'Allow once', deny: 'Deny' },
  session: { choice: 'For this session', approve: 'Allow for this session', deny: 'Deny for this session' },
  always: { choice: 'Always', approve: 'Always allow', deny: 'Always deny' },
}

type Hold = keyof typeof HOLDS

interface Props {
  approval: Approval
  /** Changes when something else takes this card's place. */
  place: string
  onDismiss?: () => void
}

/** A waiting call, and the decision about it. */
export function ApprovalCard({ approval, place, onDismiss }: Props) {
  const { tool, server, args, because, expiresAt } = approval
  const box = useFocusBack<HTMLElement>()
  return (
    <article ref={box} className="approval card" aria-label={`Approval of ${oneLine(tool, 80)}`}>
      <div className="approval-head">
        <h2>
          Run <code>{oneLine(tool, 120)}</code>?
        </h2>
        {onDismiss && <IconButton icon="close" label="Decide later" onClick={onDismiss} />}
      </div>
      <Facts
        facts={{
          'Requested by': oneLine(askedBy(approval), 120),
          Server: server && oneLine(server, 80),
          Reason: because && clipped(because, 500),
          'Expires in': <TimeLeft until={expiresAt} />,
        }}
      />
      <JsonBlock className="approval-args" value={args} label="Arguments" />
      <Decide approval={approval} place={place} />
    </article>
  )
}

function askedBy({ caller, origin }: Approval): string {
  if (!caller) return origin || 'unknown'
  return origin ? `${caller} (${origin})` : caller
}

export function TimeLeft({ until }: { until: number }) {
  const left = useSecondsTo(until)
  if (left <= 0) return 'a moment'
  return left < 60 ? `${left} s` : `${Math.floor(left / 60)} min ${left % 60} s`
}

function Decide({ approval, place }: { approval: Approval; place: string }) {
  const [hold, setHold] = useState<Hold>('once')
  const isOpen = useStore(gateway, state => state.connection.state === 'open')
  const isSending = useStore(decisions, state => state.marks.get(approval.id) === 'sending')
  const isReady = useSettled(place) && isOpen && !isSending
  const decide = (decision: ApprovalDecision['decision']) => {
    if (isReady) void decisions.decide(approval, { decision, remember: hold === 'once' ? undefined : hold })
  }
  // Not `disabled`, which would lose the focus.
  const common = { 'aria-disabled': !isReady }
  return (
    <>
      <div className="approval-decide">
        <select
          aria-label="How long the decision applies"
          value={hold}
          onChange={event => setHold(event.target.value as Hold)}
        >
          {Object.entries(HOLDS).map(([value, { choice }]) => (
            <option key={value} value={value}>
              {choice}
            </option>
          ))}
        </select>
        <Button {...common} onClick={() => decide('deny')}>
          {HOLDS[hold].deny}
        </Button>
        <Button {...common} look="primary" onClick={() => decide('approve')}>
          {HOLDS[hold].approve}
        </Button>
      </div>
      {hold !== 'once' && (
        <p className="muted" role="status">
          Applies to every call of this tool by {oneLine(askedBy(approval), 80)}, whatever its arguments
          {hold === 'session' ? ', until Toolpost stops' : ', even after a restart'}.
        </p>
      )}
    </>
  )
}
