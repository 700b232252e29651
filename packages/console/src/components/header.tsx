import { hrefOf, type Route, TITLES, VIEWS } from '../routing/route.ts'
import { useWaiting } from '../state/decisions.ts'
import { gateway } from '../state/gateway.ts'
import { useStore } from '../state/store.ts'
import { counted } from '../text/figures.ts'
import { Icon } from './icon.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

export function Header({ view }: { view: Route['view'] }) {
  return (
    <header className="header">
      <a className="brand" href={hrefOf({ view: 'tools' })}>
        <span className="brand-mark" aria-hidden="true" />
        Toolpost
      </a>
      <nav className="nav" aria-label="Views">
        {VIEWS.map(name => (
          <a key={name} href={addressOf(name)} aria-current={view === name ? 'page' : undefined}>
            <Icon name={name} />
            <span>{TITLES[name]}</span>
            <Mark view={name} />
          </a>
        ))}
      </nav>
      <div className="header-end">
        <ConnectionState />
        <ThemeSwitch />
      </div>
    </header>
  )
}

function addressOf(view: Route['view']): string {
  return hrefOf(view === 'calls' ? { view, filter: {} } : { view })
}

/** A count beside a view that needs attention. */
function Mark({ view }: { view: Route['view'] }) {
  const running = useStore(gateway, state => state.calls?.filter(call => !call.result).length ?? 0)
  const down = useStore(gateway, state => state.servers?.filter(one => one.state !== 'ready').length ?? 0)
  const waiting = useWaiting()?.length ?? 0
  const count = { calls: running, approvals: waiting, servers: down, tools: 0, chat: 0 }[view]
  if (count === 0) return null
  return (
    <span className={`nav-mark nav-mark-${view}`}>
      {count}
      <span className="visually-hidden"> {MARKS[view]}</span>
    </span>
  )
}

const MARKS: Partial<Record<Route['view'], string>> = {
  calls: 'running',
  approvals: 'waiting',
  servers: 'not ready',
}

const STATES = { open: 'Connected', connecting: 'Connecting', gone: 'Unreachable', token: 'Token required' }

function ConnectionState() {
  const state = useStore(gateway, ({ connection }) => connection.state)
  const tools = useStore(gateway, value => value.tools?.length)
  const text = STATES[state]
  return (
    <span
      className={`connection connection-${state}`}
      title={tools === undefined ? text : `${text}, ${counted(tools, 'tool')}`}
    >
      <span className="dot" aria-hidden="true" />
      <span className="connection-text">{text}</span>
    </span>
  )
}
