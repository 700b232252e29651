import type { ToolInfo } from 'toolpost/gateway'
import { Badge } from '../../components/badge.tsx'
import { Icon } from '../../components/icon.tsx'

/** The tool's annotations as badges. */
export function ToolBadges({ tool }: { tool: ToolInfo }) {
  return (
    <>
      {tool.readOnly && (
        <Badge>
          <Icon name="readOnly" /> read-only
        </Badge>
      )}
      {tool.idempotent && !tool.readOnly && <Badge>idempotent</Badge>}
      {tool.destructive && (
        <Badge tone="warn">
          <Icon name="destructive" /> destructive
        </Badge>
      )}
    </>
  )
}

/** The same in a list, where there is only room for an icon. */
export function ToolMark({ tool }: { tool: ToolInfo }) {
  if (tool.destructive) return <Mark icon="destructive" word="destructive" />
  return tool.readOnly ? <Mark icon="readOnly" word="read-only" /> : null
}

function Mark({ icon, word }: { icon: 'destructive' | 'readOnly'; word: string }) {
  return (
    <span className={`tool-mark tool-mark-${icon}`} title={word}>
      <Icon name={icon} />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
