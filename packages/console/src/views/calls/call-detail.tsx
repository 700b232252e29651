import { useEffect, useRef } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { textOf } from '../../api/checked.ts'
import { cancelCall } from '../../api/gateway-api.ts'
import { isRecord } from '../../api/guards.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { Problem } from '../../components/problem.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { ArgumentsAndResult } from '../../components/result-view.tsx'
import { useAttempt } from '../../components/use-attempt.ts'
import { useNow } from '../../components/use-now.ts'
import { WebLink } from '../../components/web-link.tsx'
import { hrefOf } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { type CallFilter, obstacleToRepeat, shortSerial, traceOf } from '../../state/call-list.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { durationText, momentText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { CopyRow } from '../tools/copy-row.tsx'
import { fromText, OutcomeBadge } from './call-table.tsx'
import { useKeptCall } from './use-older-calls.ts'
import { Waterfall } from './waterfall.tsx'

interface Props {
  serial: string
  call: CallRecord | undefined
  filter: CallFilter
}

export function CallDetail({ serial, call: known, filter }: Props) {
  const call = useKeptCall(serial, known)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const closed = { view: 'calls', filter } as const
  return (
    <aside
      className="call-detail card"
      aria-label={`Call ${shortSerial(serial)}`}
      onKeyDown={event => event.key === 'Escape' && go(closed)}
    >
      <div className="view-head">
        <h2 ref={heading} tabIndex={-1}>
          Call {shortSerial(serial)}
        </h2>
        <a className="icon-button" href={hrefOf(closed)} aria-label="Close">
          <Icon name="close" />
        </a>
      </div>
      {call === 'looking' ? (
        <Loading label="Loading the call" rows={3} />
      ) : call ? (
        <CallBody call={call} />
      ) : (
        <EmptyState title="This call is no longer available">
          Older calls are removed after a while; see <code>history</code> in the configuration.
        </EmptyState>
      )}
    </aside>
  )
}

function CallBody({ call }: { call: CallRecord }) {
  return (
    <>
      <p className="call-title">
        <a href={hrefOf({ view: 'tools', tool: call.tool })}>{oneLine(call.tool)}</a>{' '}
        <OutcomeBadge result={call.result} />
      </p>
      {call.result === undefined && <Running call={call} />}
      <Actions call={call} />
      <Facts facts={factsOf(call)} />
      <Waterfall call={call} />
      <ArgumentsAndResult {...call} />
      <CopyRow tool={call.tool} args={call.args ?? {}} result={call.result} />
    </>
  )
}

/** Its progress, and a button to cancel it. */
function Running({ call }: { call: CallRecord }) {
  const { problem, attempt } = useAttempt()
  return (
    <div className="call-running">
      <ProgressBar progress={call.progress} label={`Progress of call ${shortSerial(call.serial)}`} />
      <Button icon="stop" onClick={() => void attempt(() => cancelCall(call.serial))}>
        Cancel
      </Button>
      <Problem text={problem} />
    </div>
  )
}

function Actions({ call }: { call: CallRecord }) {
  const known = useStore(gateway, state => state.tools?.some(tool => tool.name === call.tool) ?? false)
  const open = useStore(gateway, state => state.connection.state === 'open')
  const obstacle = known ? obstacleToRepeat(call.args) : 'This tool is not available right now.'
  const again = () => {
    void toolRuns.start(call.tool, call.args ?? {})
    go({ view: 'tools', tool: call.tool, from: call.serial })
  }
  return (
    <div className="call-actions">
      <Button icon="play" look="primary" disabled={!open || obstacle !== undefined} onClick={again}>
        Run again
      </Button>
      {known && (
        <a className="button" href={hrefOf({ view: 'tools', tool: call.tool, from: call.serial })}>
          Edit and run
        </a>
      )}
      {obstacle && <p className="muted">{obstacle}</p>}
    </div>
  )
}

function factsOf(call: CallRecord): Record<string, React.ReactNode> {
  const { startedAt, durationMs, waitedMs = 0, source, id, notes = {} } = call
  const trace = traceOf(call)
  return {
    Started: momentText(startedAt),
    Took: durationMs === undefined ? <Elapsed since={startedAt} /> : durationText(durationMs),
    Waited: waitedMs >= 1 ? durationText(waitedMs) : undefined,
    Source: oneLine(source),
    'Requested by': oneLine(fromText(call)),
    Rule: noteText(notes.rule),
    Approval: approvalText(notes.approval),
    Limit: noteText(notes.limit),
    'Trace ID': trace && <TraceLink trace={trace} address={call.traceUrl} />,
    ID: id && <code>{oneLine(id)}</code>,
  }
}

/** Links to all calls of the same trace, and to the trace itself if the gateway knows its URL. */
function TraceLink({ trace, address }: { trace: string; address: string | undefined }) {
  return (
    <span className="trace-link">
      <a href={hrefOf({ view: 'calls', filter: { trace } })}>
        <code>{oneLine(trace, 64)}</code>
      </a>
      {typeof address === 'string' && <WebLink address={address}>Open trace</WebLink>}
      <CopyButton label="Copy" text={() => trace} />
    </span>
  )
}

function noteText(note: unknown): string {
  return oneLine(textOf(note))
}

/** `approved by console`. */
function approvalText(approval: unknown): string {
  const { decision, by } = isRecord(approval) ? approval : {}
  return [noteText(decision), noteText(by)].filter(Boolean).join(' by ')
}

function Elapsed({ since }: { since: number }) {
  const now = useNow(200)
  return `${durationText(Math.max(0, now - since))} so far`
}
