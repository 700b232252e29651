import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { visibleText } from '../../text/visible-text.ts'
import { ToolDetail } from './tool-detail.tsx'
import { ToolList } from './tool-list.tsx'

interface Props {
  tool: string | undefined
  /** The serial of a recorded call whose arguments are taken over. */
  from: number | undefined
}

export function ToolsView({ tool: name, from }: Props) {
  const tools = useStore(gateway, state => state.tools)
  const call = useStore(gateway, state => state.calls?.find(({ serial }) => serial === from))
  if (tools === undefined) return <Loading label="Reading the tools" rows={8} />
  const tool = tools.find(one => one.name === name)
  return (
    <div className={`split ${name === undefined ? '' : 'split-detail'}`}>
      <ToolList tools={tools} selected={name} />
      <div className="split-main">
        {tool && <ToolDetail key={`${tool.name} ${call?.serial}`} tool={tool} call={call} />}
        {!tool && name !== undefined && <UnknownTool name={name} />}
        {name === undefined && tools.length > 0 && (
          <EmptyState title="Pick a tool">
            Its form is made from its schema. <kbd>/</kbd> searches, <kbd>↓</kbd> and <kbd>↑</kbd> walk the
            list.
          </EmptyState>
        )}
      </div>
    </div>
  )
}

function UnknownTool({ name }: { name: string }) {
  return (
    <EmptyState title={`There is no tool “${visibleText(name)}” now`}>
      Its server may be away: see <a href={hrefOf({ view: 'servers' })}>Servers</a>. Or go back to{' '}
      <a href={hrefOf({ view: 'tools' })}>all tools</a>.
    </EmptyState>
  )
}
