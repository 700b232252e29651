import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import type { CallFilter } from '../../api/gateway.ts'
import { hrefTo } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { durationText, whenText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Empty, Problem, Spinner } from '../../ui/controls.tsx'
import { Outcome, toolMs } from '../../ui/result-view.tsx'
import type { History } from './use-history.ts'

const ROW_HEIGHT = 34

interface Props {
  history: History
  calls: readonly CallRecord[]
  current: string | undefined
  filter: CallFilter
}

/** Only the rows in view exist, so that any number of calls scrolls smoothly. */
export function CallList({ history, calls, current, filter }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: calls.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 15,
    getItemKey: at => calls[at]?.serial ?? at,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const { hasMore, loadMore } = history
  useEffect(() => {
    if (hasMore && last >= calls.length - 50) loadMore()
  }, [hasMore, last, calls.length, loadMore])
  const at = calls.findIndex(call => call.serial === current)
  useEffect(() => {
    // A hidden list cannot scroll.
    if (at >= 0 && box.current?.clientHeight) rows.scrollToIndex(at, { align: 'auto' })
  }, [at, rows])
  if (history.error) return <Problem text={history.error.message} />
  if (history.isPending)
    return (
      <div className="p-4">
        <Spinner label="Loading calls" />
      </div>
    )
  if (calls.length === 0)
    return Object.values(filter).some(Boolean) ? (
      <Empty title="No call matches">
        <a className="link" href="#/calls">
          Show all calls
        </a>
      </Empty>
    ) : (
      <Empty title="No calls yet">Every call appears here, whoever makes it.</Empty>
    )
  return (
    <section
      ref={box}
      aria-label="Calls, newest first"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
      tabIndex={0}
      className="@container min-h-0 flex-1 overflow-y-auto"
    >
      <ol className="relative" style={{ height: rows.getTotalSize() }}>
        {items.map(item => {
          const call = calls[item.index]
          return (
            call && (
              <li
                key={item.key}
                aria-setsize={calls.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0"
                style={{ height: item.size, transform: `translateY(${item.start}px)` }}
              >
                <Row call={call} isCurrent={call.serial === current} filter={filter} />
              </li>
            )
          )
        })}
      </ol>
    </section>
  )
}

function Row({ call, isCurrent, filter }: { call: CallRecord; isCurrent: boolean; filter: CallFilter }) {
  const { result } = call
  return (
    <a
      href={hrefTo(['calls', call.serial], { ...filter })}
      aria-current={isCurrent ? 'true' : undefined}
      className={`row h-full border-b border-line px-4 hover:bg-raised ${isCurrent ? 'bg-raised' : ''}`}
    >
      <span className="w-24 shrink-0 text-xs text-muted tabular-nums">{whenText(call.startedAt)}</span>
      <span className="max-w-[45%] min-w-16 truncate font-medium">{oneLine(call.tool, 80)}</span>
      <span className="min-w-0 flex-1 truncate text-muted">{callWords('', call.args)}</span>
      <span className="hidden w-20 shrink-0 truncate text-xs text-muted @3xl:block">
        {oneLine(call.caller || call.origin, 40)}
      </span>
      <span className="hidden w-16 shrink-0 text-right text-xs text-muted tabular-nums @xl:block">
        {result && durationText(toolMs(result))}
      </span>
      <span className="flex shrink-0 justify-end @xl:w-24">
        <Outcome result={result} />
      </span>
    </a>
  )
}
