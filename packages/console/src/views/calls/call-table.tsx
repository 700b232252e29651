import { memo } from 'react'
import type { CallRecord, ToolResult } from 'toolpost/gateway'
import { Badge } from '../../components/badge.tsx'
import { Columns } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { toneOf } from '../../components/result-view.tsx'
import { useShowMore } from '../../components/show-more.tsx'
import { hrefOf } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import type { CallFilter } from '../../state/call-list.ts'
import { durationText, momentText, whenText } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine } from '../../text/visible-text.ts'

const SHOWN_CALLS = 100

interface Props {
  calls: readonly CallRecord[]
  selected: string | undefined
  filter: CallFilter
  /** How many were loaded page by page; these are always shown. */
  loaded: number
  /** Shown below the last call. */
  end: React.ReactNode
}

/** Newest first. */
export function CallTable({ calls, selected, filter, loaded, end }: Props) {
  const [limit, more] = useShowMore(calls.length - loaded, SHOWN_CALLS)
  const shown = calls.slice(-(limit + loaded)).reverse()
  return (
    <>
      <table className="call-table">
        <caption className="visually-hidden">Calls, newest first</caption>
        <Columns
          names={['Time', 'Tool', 'Source', 'From', 'Outcome', 'Took']}
          classes={{ Source: 'wide-only', From: 'wide-only', Took: 'numeric' }}
        />
        <tbody>
          {shown.map(call => (
            <Row
              key={call.serial}
              call={call}
              current={call.serial === selected}
              href={hrefOf({ view: 'calls', serial: call.serial, filter })}
              onOpen={() => go({ view: 'calls', serial: call.serial, filter })}
            />
          ))}
        </tbody>
      </table>
      {more || end}
    </>
  )
}

interface RowProps {
  call: CallRecord
  current: boolean
  href: string
  onOpen: () => void
}

const Row = memo(
  function Row({ call, current, href, onOpen }: RowProps) {
    return (
      // The link in the row does the same for the keyboard.
      <tr className={current ? 'row-current' : ''} onClick={onOpen}>
        <td className="figure" title={momentText(call.startedAt)}>
          {whenText(call.startedAt)}
        </td>
        <td className="call-tool">
          <a
            href={href}
            aria-current={current ? 'true' : undefined}
            onClick={event => event.stopPropagation()}
          >
            {oneLine(call.tool, 80)}
          </a>
          <span className="call-args">{argsText(call.args)}</span>
        </td>
        <td className="wide-only muted">{oneLine(call.source, 40)}</td>
        <td className="wide-only muted">{oneLine(fromText(call), 40)}</td>
        <td>
          <OutcomeBadge result={call.result} />
        </td>
        <td className={`numeric figure ${call.slow ? 'slow' : ''}`}>
          {call.durationMs === undefined ? progressText(call) : durationText(call.durationMs)}
          {call.slow && <SlowMark />}
        </td>
      </tr>
    )
  },
  (before, after) =>
    before.call === after.call && before.current === after.current && before.href === after.href,
)

/** Where a call came from, and on whose behalf if known. */
export function fromText({ origin = '', caller }: CallRecord): string {
  return caller === undefined ? origin : `${caller} (${origin})`
}

function progressText({ progress }: CallRecord): string {
  const { progress: done, total } = progress ?? {}
  return done !== undefined && total ? `${Math.round((100 * done) / total)} %` : '…'
}

function argsText(args: unknown): string {
  const text = shortJson(args, 90)
  return text === '{}' ? '' : text
}

export function OutcomeBadge({ result }: { result: ToolResult | undefined }) {
  if (result === undefined) return <Badge tone="accent">running</Badge>
  if (result.success) return <Badge tone="good">ok</Badge>
  return <Badge tone={toneOf(result)}>{oneLine(result.code, 40).replaceAll('_', ' ')}</Badge>
}

function SlowMark() {
  return (
    <span className="slow-mark" title="Slow">
      <Icon name="clock" />
      <span className="visually-hidden">slow</span>
    </span>
  )
}
