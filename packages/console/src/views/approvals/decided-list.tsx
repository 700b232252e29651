import { useMemo } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { textOf } from '../../api/checked.ts'
import { isRecord } from '../../api/guards.ts'
import { Badge } from '../../components/badge.tsx'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { whenText } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'

const SHOWN = 10

/** Recent decisions about calls that the page knows, newest first; renders nothing if there are none. */
export function DecidedList() {
  const calls = useStore(gateway, state => state.calls)
  const decided = useMemo(() => (calls ?? []).filter(wasDecided).slice(-SHOWN).reverse(), [calls])
  if (decided.length === 0) return null
  return (
    <section className="card" aria-labelledby="approvals-decided">
      <div className="card-head">
        <h2 id="approvals-decided">Recently decided</h2>
      </div>
      <ul className="plain-list rows">
        {decided.map(call => (
          <li key={call.serial}>
            <Row call={call} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function wasDecided({ notes }: CallRecord): boolean {
  return isRecord(notes) && isRecord(notes.approval)
}

function Row({ call: { serial, tool, args, startedAt, notes } }: { call: CallRecord }) {
  const { decision, by } = isRecord(notes?.approval) ? notes.approval : {}
  return (
    <a className="row row-link" href={hrefOf({ view: 'calls', serial })}>
      <span className="muted figure">{whenText(startedAt)}</span>
      <span className="row-name mono">{oneLine(tool, 60)}</span>
      <span className="row-text mono">{shortJson(args, 90)}</span>
      <span className="row-end muted">{oneLine(textOf(by), 40)}</span>
      <Badge tone={decision === 'approved' ? 'good' : 'warn'}>{oneLine(textOf(decision), 20)}</Badge>
    </a>
  )
}
