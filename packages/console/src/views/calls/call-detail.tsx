import { Pencil, Play, Square } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { useIsOpen, useLive } from '../../api/events.ts'
import { cancelCall } from '../../api/gateway.ts'
import { isRecord } from '../../api/http.ts'
import { useCall, useTools } from '../../api/queries.ts'
import { go, hrefTo } from '../../router.ts'
import { durationText, momentText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { CopyButton } from '../../ui/code.tsx'
import { Button, Facts, IconButton, LinkButton, Pending, Section } from '../../ui/controls.tsx'
import { Running } from '../../ui/progress.tsx'
import { Outcome, ResultView, toolMs } from '../../ui/result-view.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { attempt } from '../../ui/toast.tsx'
import { ValueView } from '../../ui/value-view.tsx'
import { WebLink } from '../../ui/web-link.tsx'
import { runTool } from '../tools/drafts.ts'
import { RequestSnippets } from '../tools/request-snippets.tsx'
import { Compare } from './compare.tsx'
import { obstacleToRepeat } from './repeat.ts'
import { Waterfall } from './waterfall.tsx'

export function CallDetail({ serial, onClose }: { serial: string; onClose: () => void }) {
  const running = useLive(live => live.running[serial])
  const ended = useCall(running ? undefined : serial)
  const call = running ?? ended.data
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <aside aria-label="Call" className="flex flex-col gap-4 p-4">
      <div className="row">
        <h2 ref={heading} tabIndex={-1} className="min-w-0 text-lg break-all">
          {call ? (
            <a className="hover:underline" href={hrefTo(['tools', call.tool])}>
              {oneLine(call.tool, 120)}
            </a>
          ) : (
            'Call'
          )}
        </h2>
        {call && <Outcome result={call.result} />}
        <IconButton label="Close" className="ml-auto" onClick={onClose} />
      </div>
      {call ? <Body call={call} /> : <Pending label="Loading the call" error={ended.error} />}
    </aside>
  )
}

function Body({ call }: { call: CallRecord }) {
  const { result } = call
  const content = (
    <div className="flex flex-col gap-4">
      <Section title="Arguments">
        <ValueView value={call.args ?? {}} label="Arguments" />
      </Section>
      {result && (
        <Section title="Result">
          <ResultView result={result} />
        </Section>
      )}
    </div>
  )
  return (
    <>
      {result ? (
        <Actions call={call} />
      ) : (
        <Running startedAt={call.startedAt} progress={call.progress}>
          <Button icon={Square} onClick={() => void attempt(() => cancelCall(call.serial))}>
            Cancel
          </Button>
        </Running>
      )}
      <Facts facts={factsOf(call)} />
      <Tabs
        label="About this call"
        tabs={[
          { value: 'result', label: result ? 'Result' : 'Arguments', content },
          result && { value: 'trace', label: 'Trace', content: <Waterfall call={call} /> },
          result && { value: 'compare', label: 'Compare', content: <Compare call={call} /> },
          {
            value: 'request',
            label: 'Request',
            content: <RequestSnippets tool={call.tool} args={call.args ?? {}} result={result} />,
          },
        ]}
      />
    </>
  )
}

function Actions({ call }: { call: CallRecord }) {
  const { data: tools = [] } = useTools()
  const isOpen = useIsOpen()
  const isThere = tools.some(tool => tool.name === call.tool)
  const obstacle = isThere ? obstacleToRepeat(call.args) : 'This tool is not available now.'
  const edit = hrefTo(['tools', call.tool], { from: call.serial })
  const again = () => {
    void runTool(call.tool, call.args ?? {})
    go(edit)
  }
  return (
    <div className="row flex-wrap">
      <Button icon={Play} look="primary" disabled={!isOpen || obstacle !== undefined} onClick={again}>
        Run again
      </Button>
      {isThere && (
        <LinkButton icon={Pencil} href={edit}>
          Edit and run
        </LinkButton>
      )}
      {obstacle && <span className="text-muted">{obstacle}</span>}
    </div>
  )
}

function factsOf(call: CallRecord): Record<string, ReactNode> {
  const { startedAt, result, source, id, caller, origin, rule, approval, traceId: trace, traceUrl } = call
  const waited = result?.waited_ms ?? 0
  const { decision, by } = isRecord(approval) ? approval : {}
  return {
    Started: momentText(startedAt),
    Took: result && durationText(toolMs(result)),
    Waited: waited >= 1 && durationText(waited),
    Server: oneLine(source, 80),
    'Requested by': oneLine([caller, origin].filter(Boolean).join(', '), 120),
    Rule: textOf(rule),
    Approval: [decision === 'approved' ? 'allowed' : textOf(decision), textOf(by)]
      .filter(Boolean)
      .join(' by '),
    Trace: trace && (
      <span className="row flex-wrap">
        <a className="link" href={hrefTo(['calls'], { trace })}>
          <code>{oneLine(trace, 64)}</code>
        </a>
        {traceUrl && <WebLink address={traceUrl}>Open trace</WebLink>}
        <CopyButton text={() => trace} label="Copy the trace id" />
      </span>
    ),
    'Call id': id && <code>{oneLine(id, 100)}</code>,
  }
}

function textOf(note: unknown): string {
  return typeof note === 'string' ? oneLine(note, 200) : ''
}
