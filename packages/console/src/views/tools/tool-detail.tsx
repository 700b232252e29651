import { useEffect, useState } from 'react'
import type { CallRecord, ToolInfo } from 'toolpost/gateway'
import { Badge } from '../../components/badge.tsx'
import { JsonBlock, LongText } from '../../components/code-block.tsx'
import { Icon } from '../../components/icon.tsx'
import { hrefOf } from '../../routing/route.ts'
import { obstacleToRepeat } from '../../state/call-list.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { clipped, oneLine } from '../../text/visible-text.ts'
import { ArgumentsEditor } from './arguments-editor.tsx'
import { CopyRow } from './copy-row.tsx'
import { type Draft, deadlineMs, firstDraft, keepDraft, parseArguments } from './draft.ts'
import { RunBar } from './run-bar.tsx'
import { RunResult } from './run-result.tsx'

export function ToolDetail({ tool, call }: { tool: ToolInfo; call: CallRecord | undefined }) {
  const [draft, setDraft] = useState(() => firstDraft(tool, call))
  useEffect(() => {
    scrollTo(0, 0)
  }, [])
  const change = (part: Partial<Draft>) =>
    setDraft(before => {
      const next = { ...before, ...part }
      keepDraft(tool.name, next)
      return next
    })
  const run = (args: unknown) => void toolRuns.start(tool.name, args, deadlineMs(draft.deadline))
  return (
    <article className="tool" aria-labelledby="tool-name">
      <ToolHead tool={tool} />
      {call && <ReusedArguments call={call} />}
      <section className="card" aria-label="Call this tool">
        <ArgumentsEditor tool={tool} draft={draft} onChange={change} onRun={run} exact={call !== undefined} />
        <RunBar tool={tool} deadline={draft.deadline} onDeadline={deadline => change({ deadline })} />
      </section>
      <RunResult tool={tool.name} />
      <CopyRow tool={tool.name} args={argsOf(draft)} />
      <Schemas tool={tool} />
    </article>
  )
}

function argsOf(draft: Draft): unknown {
  if (draft.mode === 'form') return draft.args
  const parsed = parseArguments(draft.text)
  return parsed.ok ? parsed.args : {}
}

function ToolHead({ tool }: { tool: ToolInfo }) {
  return (
    <header className="tool-head">
      <a className="back-link" href={hrefOf({ view: 'tools' })}>
        <Icon name="back" /> All tools
      </a>
      <div className="tool-title">
        <h2 id="tool-name">{oneLine(tool.name)}</h2>
        <Badge tone="accent">{oneLine(tool.source, 60)}</Badge>
        {tool.readOnly && <Badge>read-only</Badge>}
        {tool.idempotent && !tool.readOnly && <Badge>idempotent</Badge>}
        {tool.destructive && <Badge tone="warn">destructive</Badge>}
      </div>
      {typeof tool.title === 'string' && tool.title !== tool.name && (
        <p className="tool-subtitle">{oneLine(tool.title)}</p>
      )}
      <LongText className="tool-description" text={tool.description} />
      <code className="signature">{clipped(tool.signature, 2_000)}</code>
    </header>
  )
}

function ReusedArguments({ call }: { call: CallRecord }) {
  const obstacle = obstacleToRepeat(call.args)
  return (
    <p className={`notice ${obstacle ? 'notice-warn' : ''}`}>
      Arguments of <a href={hrefOf({ view: 'calls', serial: call.serial, filter: {} })}>call {call.serial}</a>
      . {obstacle ?? 'Edit them and run the call again.'}
    </p>
  )
}

function Schemas({ tool }: { tool: ToolInfo }) {
  return (
    <div className="disclosures">
      <details>
        <summary>Input schema</summary>
        <JsonBlock value={tool.schema} label="Input schema" />
      </details>
      {tool.outputSchema && (
        <details>
          <summary>Output schema</summary>
          <JsonBlock value={tool.outputSchema} label="Output schema" />
        </details>
      )}
    </div>
  )
}
