import type { ServerStatus } from 'toolpost/gateway'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'

const SHOWN = 8
/** The servers and their state, those with problems first. */
export function ServersCard() {
  const servers = useStore(gateway, state => state.servers) ?? []
  const local = useStore(
    gateway,
    state => state.tools?.filter(({ source }) => source === 'local').length ?? 0,
  )
  const sorted = [
    ...servers.filter(({ state }) => state !== 'ready'),
    ...servers.filter(({ state }) => state === 'ready'),
  ]
  return (
    <section className="card" aria-labelledby="home-servers">
      <div className="card-head">
        <h2 id="home-servers">Servers</h2>
        <a href={hrefOf({ view: 'servers' })}>All servers</a>
      </div>
      <ul className="plain-list rows">
        {sorted.slice(0, SHOWN).map(server => (
          <ServerRow key={server.name} server={server} />
        ))}
        {servers.length > SHOWN && (
          <li className="row muted">and {counted(servers.length - SHOWN, 'more server')}</li>
        )}
        <li className="row">
          <span className="dot dot-ready" aria-hidden="true" />
          <span className="row-name">Local tools</span>
          <span className="row-end muted">{counted(local, 'tool')}</span>
        </li>
      </ul>
    </section>
  )
}

function ServerRow({ server: { name, state, tools, error } }: { server: ServerStatus }) {
  const isReady = state === 'ready'
  return (
    <li className="row">
      <span className={`dot dot-${state}`} aria-hidden="true" />
      <a className="row-name" href={hrefOf({ view: 'servers', name })}>
        {oneLine(name, 60)}
      </a>
      {!isReady && error && <span className="row-text">{oneLine(error, 120)}</span>}
      <span className={`row-end ${isReady ? 'muted' : 'warn'}`}>
        {isReady ? counted(tools.length, 'tool') : oneLine(state, 20).replaceAll('_', ' ')}
      </span>
    </li>
  )
}
