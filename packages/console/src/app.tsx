import {
  Activity,
  House,
  type LucideIcon,
  MessageSquare,
  Moon,
  Repeat,
  Search,
  Server,
  ShieldCheck,
  Sun,
  SunMoon,
  Wrench,
} from 'lucide-react'
import { type ComponentType, Suspense } from 'react'
import { useLive } from './api/events.ts'
import { useHasRuns, useNeeds } from './api/queries.ts'
import { Connection, TokenPrompt } from './connection.tsx'
import { Palette, usePaletteKeys } from './palette.tsx'
import { useParts } from './router.ts'
import { type Theme, useTheme } from './theme.ts'
import { IconButton, Kbd, Pending } from './ui/controls.tsx'
import { ErrorBoundary } from './ui/error-boundary.tsx'
import { lazily } from './ui/lazily.ts'
import { openPalette } from './ui/palette-state.ts'
import { ApprovalsView } from './views/approvals/approvals-view.tsx'
import { AttentionBar } from './views/approvals/attention-bar.tsx'
import { HomeView } from './views/home.tsx'
import { RunsView } from './views/runs.tsx'

interface Place {
  /** The first part of its address. */
  path: string
  label: string
  icon: LucideIcon
  view: ComponentType
}

const ChatView = lazily(() => import('./views/chat/chat-view.tsx'), 'ChatView')
const ToolsView = lazily(() => import('./views/tools/tools-view.tsx'), 'ToolsView')
const HistoryView = lazily(() => import('./views/calls/history-view.tsx'), 'HistoryView')
const ServersView = lazily(() => import('./views/servers/servers-view.tsx'), 'ServersView')

const PLACES: Place[] = [
  { path: '', label: 'Home', icon: House, view: HomeView },
  { path: 'chat', label: 'Chat', icon: MessageSquare, view: ChatView },
  { path: 'tools', label: 'Tools', icon: Wrench, view: ToolsView },
  { path: 'calls', label: 'History', icon: Activity, view: HistoryView },
  { path: 'approvals', label: 'Approvals', icon: ShieldCheck, view: ApprovalsView },
  { path: 'servers', label: 'Servers', icon: Server, view: ServersView },
  { path: 'runs', label: 'Runs', icon: Repeat, view: RunsView },
]

/** What can be gone to; runs only if durable calls are on. */
export function usePlaces(): Place[] {
  const hasRuns = useHasRuns()
  return hasRuns ? PLACES : PLACES.filter(({ path }) => path !== 'runs')
}

export function App() {
  const needsToken = useLive(live => live.connection.state === 'token')
  usePaletteKeys()
  if (needsToken) return <TokenPrompt />
  return (
    <div className="flex h-full flex-col md:flex-row">
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to content
      </button>
      <SideBar />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Connection />
        <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
          <Views />
        </main>
        <AttentionBar />
      </div>
      <BottomBar />
      <Palette />
    </div>
  )
}

function Views() {
  const [path = ''] = useParts()
  const View = PLACES.find(place => place.path === path)?.view ?? HomeView
  return (
    <ErrorBoundary key={path}>
      <Suspense fallback={<Pending label="Loading" />}>
        <View />
      </Suspense>
    </ErrorBoundary>
  )
}

/** How many things wait for a person, and how many servers are in trouble, by place. */
function useCounts(): Record<string, number> {
  const { approvals, questions, broken } = useNeeds()
  return { approvals: approvals.length + questions.length, servers: broken.length }
}

function SideBar() {
  return (
    <aside
      className="hidden w-48 shrink-0 flex-col gap-3 border-r border-line p-3 md:flex"
      aria-label="Toolpost"
    >
      <div className="row px-2 pt-1 font-semibold">
        <img src="./icon.svg" alt="" width={18} height={18} />
        Toolpost
      </div>
      <button
        type="button"
        onClick={openPalette}
        className="control flex items-center justify-between text-muted"
      >
        <span className="row">
          <Search size={14} aria-hidden="true" /> Search
        </span>
        <Kbd>Ctrl K</Kbd>
      </button>
      <nav aria-label="Views" className="flex flex-col gap-0.5">
        <NavLinks className="row h-8 px-2 text-sm" />
      </nav>
      <div className="row mt-auto justify-between px-2">
        <ConnectionWord />
        <ThemeSwitch />
      </div>
    </aside>
  )
}

function BottomBar() {
  return (
    <nav aria-label="Views" className="flex border-t border-line bg-panel md:hidden">
      <NavLinks className="flex h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-[11px]" />
    </nav>
  )
}

function NavLinks({ className }: { className: string }) {
  const [current = ''] = useParts()
  const counts = useCounts()
  return usePlaces().map(({ path, label, icon: Icon }) => {
    const isCurrent = path === current
    const count = counts[path] ?? 0
    return (
      <a
        key={path}
        href={`#/${path}`}
        aria-current={isCurrent ? 'page' : undefined}
        className={`relative rounded-md font-medium hover:bg-raised ${className} ${isCurrent ? 'bg-raised text-text' : 'text-muted'}`}
      >
        <Icon size={16} aria-hidden="true" />
        <span className="max-w-full truncate">{label}</span>
        {count > 0 && (
          <span className="absolute top-1.5 right-1.5 rounded-full bg-warn-soft px-1.5 text-xs text-warn">
            {count}
            <span className="sr-only"> need attention</span>
          </span>
        )}
      </a>
    )
  })
}

function ConnectionWord() {
  const state = useLive(live => live.connection.state)
  const isOpen = state === 'open'
  return (
    <span className="row gap-1.5 text-xs text-muted" role="status">
      <span className={`size-1.5 rounded-full ${isOpen ? 'bg-good' : 'bg-warn'}`} aria-hidden="true" />
      {isOpen ? 'Connected' : state === 'connecting' ? 'Connecting' : 'Offline'}
    </span>
  )
}

const THEMES: Record<Theme, { icon: LucideIcon; next: Theme }> = {
  system: { icon: SunMoon, next: 'light' },
  light: { icon: Sun, next: 'dark' },
  dark: { icon: Moon, next: 'system' },
}

function ThemeSwitch() {
  const { theme } = useTheme()
  const { icon, next } = THEMES[theme]
  return (
    <IconButton icon={icon} label={`Theme: ${theme}`} onClick={() => useTheme.setState({ theme: next })} />
  )
}
