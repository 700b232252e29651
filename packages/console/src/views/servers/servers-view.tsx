import type { ServerStatus } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { ErrorBoundary } from '../../components/error-boundary.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { ToolChips } from '../../components/tool-chips.tsx'
import { go } from '../../routing/use-route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { AddServer } from './add-server.tsx'
import { ServerCard } from './server-card.tsx'

interface Props {
  /** The server to scroll to. */
  name: string | undefined
  adding: boolean | undefined
}

export function ServersView({ name, adding = false }: Props) {
  const servers = useStore(gateway, state => state.servers)
  if (servers === undefined) return <Loading label="Loading servers" rows={4} />
  const open = () => go({ view: 'servers', adding: true })
  return (
    <div className="servers page">
      <PageHead title="Servers" sub={summary(servers)}>
        {!adding && (
          <Button icon="add" onClick={open}>
            Add a server
          </Button>
        )}
      </PageHead>
      {adding && <AddServer />}
      {servers.length === 0 && !adding && (
        <EmptyState
          title="No MCP servers"
          icon="servers"
          action={
            <Button look="primary" icon="add" onClick={open}>
              Add the first one
            </Button>
          }
        >
          They are listed under <code>mcpServers</code> in <code>toolpost.json</code>.
        </EmptyState>
      )}
      <div className="server-cards">
        {servers.map(server => (
          <ErrorBoundary key={server.name}>
            <ServerCard server={server} isNamed={server.name === name} />
          </ErrorBoundary>
        ))}
        <LocalTools />
      </div>
    </div>
  )
}

function LocalTools() {
  const tools = useStore(gateway, state => state.tools)
  const names = (tools ?? []).filter(({ source }) => source === 'local').map(({ name }) => name)
  if (names.length === 0) return null
  return (
    <article className="card server" aria-label="Local tools">
      <div className="server-head">
        <h2>Local tools</h2>
        <span className="muted">{counted(names.length, 'tool')} built in, no server needed</span>
      </div>
      <div className="chips">
        <ToolChips names={names} />
      </div>
    </article>
  )
}

function summary(servers: ServerStatus[]): string {
  const ready = servers.filter(server => server.state === 'ready').length
  if (servers.length === 0) return ''
  return ready === servers.length
    ? `${counted(ready, 'server')}, all ready`
    : `${ready} of ${servers.length} ready`
}
