import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'
import { ToolDetail } from './tool-detail.tsx'
import { ToolList } from './tool-list.tsx'

interface Props {
  tool: string | undefined
  /** The serial of a recorded call whose arguments are reused. */
  from: string | undefined
}

export function ToolsView({ tool: name, from }: Props) {
  const tools = useStore(gateway, state => state.tools)
  const call = useStore(gateway, state => state.calls?.find(({ serial }) => serial === from))
  if (tools === undefined) return <Loading label="Loading tools" rows={8} />
  // Addresses cannot contain lone surrogates.
  const tool = tools.find(one => one.name.toWellFormed() === name)
  return (
    <div className={`split ${name === undefined ? '' : 'split-detail'}`}>
      <ToolList tools={tools} selected={tool?.name} />
      <div className="split-main">
        {tool && <ToolDetail key={`${tool.name} ${call?.serial}`} tool={tool} call={call} />}
        {!tool && name !== undefined && <UnknownTool name={name} />}
        {name === undefined && tools.length > 0 && (
          <EmptyState title="Pick a tool">
            Press <kbd>/</kbd> to search, <kbd>↓</kbd> and <kbd>↑</kbd> to move through the list.
          </EmptyState>
        )}
      </div>
    </div>
  )
}

function UnknownTool({ name }: { name: string }) {
  return (
    <EmptyState title={`No tool named “${oneLine(name)}”`}>
      Its server may be down: see <a href={hrefOf({ view: 'servers' })}>Servers</a>. Or go back to{' '}
      <a href={hrefOf({ view: 'tools' })}>all tools</a>.
    </EmptyState>
  )
}
