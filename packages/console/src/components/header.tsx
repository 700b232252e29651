import { hrefOf, type Route, TITLES, VIEWS } from '../routing/route.ts'
import { useWaiting } from '../state/decisions.ts'
import { gateway } from '../state/gateway.ts'
import { palette } from '../state/palette.ts'
import { useStore } from '../state/store.ts'
import { counted } from '../text/figures.ts'
import { Icon } from './icon.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

/** The shell: a sidebar on wide screens, a rail on narrower ones, two bars on a phone. */
export function Header({ view }: { view: Route['view'] }) {
  return (
    <header className="header">
      <a className="brand" href={hrefOf({ view: 'home' })}>
        <span className="brand-mark" aria-hidden="true" />
        <span className="brand-name">Toolpost</span>
      </a>
      <SearchButton />
      <nav className="nav" aria-label="Views">
        {VIEWS.map(name => (
          <a
            key={name}
            href={hrefOf({ view: name })}
            title={TITLES[name]}
            aria-current={view === name ? 'page' : undefined}
          >
            <Icon name={name} />
            <span className="nav-name">{TITLES[name]}</span>
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

function SearchButton() {
  return (
    <button
      type="button"
      className="search-button"
      aria-keyshortcuts="Control+K Meta+K"
      title="Search or jump to (Ctrl K)"
      onClick={() => palette.open()}
    >
      <Icon name="search" />
      <span className="search-button-text">Search</span>
      <span className="search-button-keys" aria-hidden="true">
        {IS_MAC ? '⌘K' : 'Ctrl K'}
      </span>
    </button>
  )
}

const IS_MAC = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent)

/** A count next to a view that needs attention. */
function Mark({ view }: { view: Route['view'] }) {
  const running = useStore(gateway, state => state.calls?.filter(call => !call.result).length ?? 0)
  const down = useStore(gateway, state => state.servers?.filter(one => one.state !== 'ready').length ?? 0)
  const waiting = useWaiting()?.length ?? 0
  const counts: Partial<Record<Route['view'], number>> = {
    calls: running,
    approvals: waiting,
    servers: down,
  }
  const count = counts[view] ?? 0
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
