import { hrefOf } from '../../routing/route.ts'
import { useWaiting } from '../../state/decisions.ts'
import { counted } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'

const SHOWN = 5

/** Calls waiting for approval, oldest first; renders nothing if there are none. */
export function WaitingCard() {
  const waiting = useWaiting() ?? []
  if (waiting.length === 0) return null
  return (
    <section className="card home-waiting" aria-labelledby="home-waiting">
      <div className="card-head">
        <h2 id="home-waiting">{counted(waiting.length, 'call')} waiting for approval</h2>
        <a className="button button-primary" href={hrefOf({ view: 'approvals' })}>
          Decide
        </a>
      </div>
      <ul className="plain-list rows">
        {waiting.slice(0, SHOWN).map(({ id, tool, args, caller, origin }) => (
          <li key={id} className="row">
            <span className="row-name mono">{oneLine(tool, 60)}</span>
            <span className="row-text mono">{shortJson(args, 90)}</span>
            <span className="row-end muted">{oneLine(caller || origin || '', 40)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
