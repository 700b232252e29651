import { useEffect, useRef } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { Icon } from '../../components/icon.tsx'
import { hrefOf } from '../../routing/route.ts'
import { useIsFavourite } from '../../state/favourites.ts'
import { oneLine } from '../../text/visible-text.ts'
import { ToolMark } from './tool-marks.tsx'

interface Props {
  tool: ToolInfo
  isCurrent: boolean
  withSource?: boolean
}

/** One tool in the list. The open one scrolls into view, however it was reached. */
export function ToolItem({ tool, isCurrent, withSource = false }: Props) {
  const link = useRef<HTMLAnchorElement>(null)
  const isFavourite = useIsFavourite(tool.name)
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    <li>
      <a
        ref={link}
        className="list-item"
        href={hrefOf({ view: 'tools', tool: tool.name })}
        aria-current={isCurrent ? 'true' : undefined}
      >
        <span className="list-item-head">
          <span className="list-item-name">{oneLine(tool.name, 80)}</span>
          {isFavourite && (
            <span className="tool-mark tool-mark-favourite" title="favourite">
              <Icon name="star" filled />
              <span className="visually-hidden">favourite</span>
            </span>
          )}
          <ToolMark tool={tool} />
        </span>
        <span className="list-item-text">
          {withSource && tool.source !== 'local' && `${oneLine(tool.source, 40)} · `}
          {oneLine(tool.description.slice(0, 400).replace(/\*\*|`/g, ''), 120)}
        </span>
      </a>
    </li>
  )
}
