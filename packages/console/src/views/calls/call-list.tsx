import type { CallRecord } from 'toolpost/gateway'
import type { CallFilter } from '../../api/gateway.ts'
import { hrefTo } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { durationText, whenText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Empty, Pending } from '../../ui/controls.tsx'
import { Outcome, toolMs } from '../../ui/result-view.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import type { History } from './use-history.ts'

const ROW_HEIGHT = 34

interface Props {
  history: History
  calls: readonly CallRecord[]
  current: string | undefined
  filter: CallFilter
}

export function CallList({ history, calls, current, filter }: Props) {
  if (history.error || history.isPending) return <Pending label="Loading calls" error={history.error} />
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
    <VirtualList
      label="Calls, newest first"
      className="@container"
      entries={calls}
      keyOf={call => call.serial}
      heightOf={() => ROW_HEIGHT}
      current={calls.findIndex(call => call.serial === current)}
      onNearEnd={() => {
        if (history.hasNextPage && !history.isFetching) void history.fetchNextPage()
      }}
    >
      {call => <Row call={call} isCurrent={call.serial === current} filter={filter} />}
    </VirtualList>
  )
}

function Row({ call, isCurrent, filter }: { call: CallRecord; isCurrent: boolean; filter: CallFilter }) {
  const { result } = call
  return (
    <a
      href={hrefTo(['calls', call.serial], filter)}
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
