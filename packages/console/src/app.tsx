import { useEffect, useRef } from 'react'
import { ConnectionBanner } from './components/connection-banner.tsx'
import { ErrorBoundary } from './components/error-boundary.tsx'
import { Favicon } from './components/favicon.tsx'
import { Header } from './components/header.tsx'
import { CommandPalette } from './components/palette/command-palette.tsx'
import { TokenPrompt } from './components/token-prompt.tsx'
import { type Route, TITLES } from './routing/route.ts'
import { useDetailScroll } from './routing/use-detail-scroll.ts'
import { useRoute } from './routing/use-route.ts'
import { useOpenQuestions } from './state/answers.ts'
import { useWaiting } from './state/decisions.ts'
import { gateway } from './state/gateway.ts'
import { useStore } from './state/store.ts'
import { oneLine } from './text/visible-text.ts'
import { ApprovalNotice } from './views/approvals/approval-notice.tsx'
import { ApprovalsView } from './views/approvals/approvals-view.tsx'
import { CallsView } from './views/calls/calls-view.tsx'
import { ChatView } from './views/chat/chat-view.tsx'
import { HomeView } from './views/home/home-view.tsx'
import { QuestionNotice } from './views/questions/question-notice.tsx'
import { RunsView } from './views/runs/runs-view.tsx'
import { ServersView } from './views/servers/servers-view.tsx'
import { ToolsView } from './views/tools/tools-view.tsx'

export function App() {
  const route = useRoute()
  const connection = useStore(gateway, state => state.connection)
  const main = useRef<HTMLElement>(null)
  useTitle(route)
  useFocusOnNewView(route.view, main)
  useDetailScroll(route)
  return (
    <div className="app">
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Favicon />
      <Header view={route.view} />
      <CommandPalette />
      {connection.state !== 'token' && (
        <div className="notices">
          <QuestionNotice />
          <ApprovalNotice view={route.view} />
        </div>
      )}
      <main ref={main} tabIndex={-1} className={`main main-${route.view}`}>
        <ConnectionBanner />
        {connection.state === 'token' ? (
          <TokenPrompt refused={connection.refused} />
        ) : (
          <ErrorBoundary key={route.view}>
            <View route={route} />
          </ErrorBoundary>
        )}
      </main>
    </div>
  )
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case 'home':
      return <HomeView />
    case 'tools':
      return <ToolsView tool={route.tool} from={route.from} />
    case 'calls':
      return <CallsView serial={route.serial} filter={route.filter ?? {}} />
    case 'approvals':
      return <ApprovalsView />
    case 'servers':
      return <ServersView name={route.name} adding={route.adding} />
    case 'chat':
      return <ChatView conversation={route.conversation} />
    case 'runs':
      return <RunsView id={route.id} filter={route.filter} />
  }
}

function useTitle(route: Route): void {
  const part = route.view === 'tools' ? route.tool : undefined
  const waiting = (useWaiting()?.length ?? 0) + useOpenQuestions().length
  useEffect(() => {
    const title = part === undefined ? TITLES[route.view] : oneLine(part, 80)
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Toolpost`
  }, [route.view, part, waiting])
}

/** Makes a screen reader start at the beginning of a new view; leaves the first view alone. */
function useFocusOnNewView(view: string, main: React.RefObject<HTMLElement | null>): void {
  const shown = useRef(view)
  useEffect(() => {
    if (shown.current === view) return
    shown.current = view
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [view, main])
}
