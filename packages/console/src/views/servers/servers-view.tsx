import { Plus } from 'lucide-react'
import { useServers } from '../../api/queries.ts'
import { go, hrefTo, useParts, useQueryParams } from '../../router.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Empty, LinkButton, Pending, ViewHead } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useListKeys } from '../../ui/list-keys.ts'
import { AddServer } from './add-server.tsx'
import { ServerDetail } from './server-detail.tsx'
import { ServerState } from './server-state.tsx'

/** The servers, and the chosen one beside them; with only one, that one. */
export function ServersView() {
  const [, given] = useParts()
  const { add } = useQueryParams()
  const { data: servers, error } = useServers()
  const [first] = servers ?? []
  const name = given ?? (matchMedia('(min-width: 48rem)').matches ? first?.name : undefined)
  const server = servers?.find(one => one.name === name)
  useListKeys({
    ids: servers?.map(one => one.name) ?? [],
    current: name,
    hrefOf: id => hrefTo(id === undefined ? ['servers'] : ['servers', id]),
  })
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={`min-h-0 w-full flex-col border-line md:flex md:w-64 md:shrink-0 md:border-r ${given ? 'hidden' : 'flex'}`}
      >
        <ViewHead title="Servers">
          <LinkButton href="#/servers?add=1" icon={Plus}>
            Add
          </LinkButton>
        </ViewHead>
        {!servers && <Pending label="Loading servers" error={error} />}
        <nav aria-label="Servers" className="flex flex-col gap-0.5 overflow-y-auto p-1">
          {servers?.map(one => (
            <a
              key={one.name}
              href={hrefTo(['servers', one.name])}
              aria-current={one.name === name ? 'true' : undefined}
              className={`rounded-md px-2 py-1.5 hover:bg-raised ${one.name === name ? 'bg-raised' : ''}`}
            >
              <span className="row justify-between">
                <span className="truncate font-medium">{oneLine(one.name, 60)}</span>
                <ServerState server={one} />
              </span>
              <span className="block truncate text-xs text-muted">
                {one.error ? oneLine(one.error, 100) : counted(one.tools.length, 'tool')}
              </span>
            </a>
          ))}
        </nav>
      </div>
      <div className={`min-h-0 min-w-0 flex-1 overflow-y-auto ${given ? '' : 'hidden md:block'}`}>
        {server && <ServerDetail key={server.name} server={server} />}
        {servers && !server && (
          <Empty title={given ? 'There is no such server' : 'No servers yet'}>
            <a className="link" href="#/servers?add=1">
              Add one
            </a>{' '}
            from a command, a URL, or the JSON of another program.
          </Empty>
        )}
      </div>
      <Dialog
        title="Add a server"
        open={add !== undefined}
        onClose={() => go('#/servers', { replace: true })}
      >
        <AddServer />
      </Dialog>
    </div>
  )
}
