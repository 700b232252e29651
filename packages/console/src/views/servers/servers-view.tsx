import type { ServerStatus } from 'toolpost/gateway'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { ErrorBoundary } from '../../components/error-boundary.tsx'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { counted } from '../../text/figures.ts'
import { ServerCard } from './server-card.tsx'

export function ServersView() {
  const servers = useStore(gateway, state => state.servers)
  const local = useStore(gateway, state => state.tools?.filter(tool => tool.source === 'local').length ?? 0)
  if (servers === undefined) return <Loading label="Loading servers" rows={4} />
  return (
    <div className="servers">
      <div className="view-head">
        <h1>Servers</h1>
        <p className="muted">{summary(servers)}</p>
      </div>
      {servers.length === 0 && (
        <EmptyState title="No MCP servers">
          Add them under <code>mcpServers</code> in <code>toolpost.json</code>.
        </EmptyState>
      )}
      <div className="server-cards">
        {servers.map(server => (
          <ErrorBoundary key={server.name}>
            <ServerCard server={server} />
          </ErrorBoundary>
        ))}
      </div>
      <p className="muted servers-local">
        {counted(local, 'local tool')} {local === 1 ? 'needs' : 'need'} no server:{' '}
        <a href={hrefOf({ view: 'tools' })}>Tools</a>.
      </p>
    </div>
  )
}

function summary(servers: ServerStatus[]): string {
  const ready = servers.filter(server => server.state === 'ready').length
  return ready === servers.length
    ? `${counted(ready, 'server')}, all ready`
    : `${ready} of ${servers.length} ready`
}
