import type { CallRecord } from 'toolpost/gateway'
import { EmptyState } from '../../components/empty-state.tsx'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { clockText, durationText } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'
import { OutcomeBadge } from '../calls/call-table.tsx'

/** As many as fit a tall screen; shorter ones hide the rest. */
const SHOWN = 16

export function LastCalls() {
  const calls = useStore(gateway, state => state.calls) ?? []
  const last = calls.slice(-SHOWN).reverse()
  return (
    <section className="card home-last" aria-labelledby="home-last">
      <div className="card-head">
        <h2 id="home-last">Recent calls</h2>
        <a href={hrefOf({ view: 'calls' })}>All calls</a>
      </div>
      {last.length === 0 ? (
        <EmptyState title="No calls yet" icon="calls">
          Calls appear here as they happen, from any client.
        </EmptyState>
      ) : (
        <ul className="plain-list rows">
          {last.map(call => (
            <CallRow key={call.serial} call={call} />
          ))}
        </ul>
      )}
    </section>
  )
}

function CallRow({ call }: { call: CallRecord }) {
  const { serial, tool, args, startedAt, durationMs, origin } = call
  return (
    <li>
      <a className="row row-link" href={hrefOf({ view: 'calls', serial })}>
        <span className="muted figure">{clockText(startedAt)}</span>
        <span className="row-name mono">{oneLine(tool, 60)}</span>
        <span className="row-text mono">{shortJson(args, 90)}</span>
        <span className="row-origin muted">{oneLine(origin, 20)}</span>
        <span className="row-time figure muted">
          {durationMs === undefined ? '' : durationText(durationMs)}
        </span>
        <OutcomeBadge result={call.result} />
      </a>
    </li>
  )
}
