import { useEffect } from 'react'
import { Icon } from '../../components/icon.tsx'
import { useShowMore } from '../../components/show-more.tsx'
import { hrefOf } from '../../routing/route.ts'
import { closedGroups } from '../../state/closed-groups.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'
import type { ToolGroup } from './search-tools.ts'
import { ToolItem } from './tool-item.tsx'

interface Props {
  group: ToolGroup
  selected: string | undefined
  /** How many are shown initially. */
  shown: number
}

/** The tools of one server, under its name, state and count; remembers whether it is collapsed. */
export function ToolGroupView({ group: { source, tools, state }, selected, shown }: Props) {
  const isClosed = useStore(closedGroups, names => names.includes(source))
  const at = tools.findIndex(({ name }) => name === selected)
  const [limit, more] = useShowMore(tools.length, shown)
  const hasSelected = at >= 0
  useEffect(() => {
    if (hasSelected) closedGroups.put(source, false)
  }, [hasSelected, source])
  return (
    <details
      className="group"
      open={!isClosed}
      onToggle={event => closedGroups.put(source, !event.currentTarget.open)}
    >
      <summary className="list-group">
        <Icon name="next" />
        {state !== undefined && <span className={`dot dot-${state}`} aria-hidden="true" />}
        <span className="list-group-name">{source === 'local' ? 'Local' : oneLine(source, 60)}</span>
        {state !== undefined && state !== 'ready' && (
          <span className="list-group-state">{oneLine(state, 20).replaceAll('_', ' ')}</span>
        )}
        <span className="list-group-count figure">{tools.length}</span>
      </summary>
      <ul className="plain-list" aria-label={`Tools of ${oneLine(source, 60)}`}>
        {tools.slice(0, Math.max(limit, at + 1)).map(tool => (
          <ToolItem key={tool.name} tool={tool} isCurrent={tool.name === selected} />
        ))}
      </ul>
      {more}
      {tools.length === 0 && (
        <p className="list-empty muted">
          No tools: see <a href={hrefOf({ view: 'servers' })}>Servers</a>.
        </p>
      )}
    </details>
  )
}
