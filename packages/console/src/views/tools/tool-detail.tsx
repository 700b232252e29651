import { useEffect, useState } from 'react'
import type { CallRecord, ToolInfo } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { JsonBlock } from '../../components/code-block.tsx'
import { Icon } from '../../components/icon.tsx'
import { hrefOf } from '../../routing/route.ts'
import { obstacleToRepeat } from '../../state/call-list.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { visibleText } from '../../text/visible-text.ts'
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
      {call && <TakenOver call={call} />}
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
        <h2 id="tool-name">{visibleText(tool.name)}</h2>
        <Badge tone="accent">{tool.source === 'local' ? 'local' : visibleText(tool.source)}</Badge>
        {tool.readOnly && <Badge>reads only</Badge>}
        {tool.idempotent && !tool.readOnly && <Badge>safe to repeat</Badge>}
        {tool.destructive && <Badge tone="warn">destructive</Badge>}
      </div>
      {tool.title && tool.title !== tool.name && <p className="tool-subtitle">{visibleText(tool.title)}</p>}
      <p className="tool-description">{visibleText(tool.description)}</p>
      <code className="signature">{visibleText(tool.signature)}</code>
    </header>
  )
}

function TakenOver({ call }: { call: CallRecord }) {
  const obstacle = obstacleToRepeat(call.args)
  return (
    <p className={`notice ${obstacle ? 'notice-warn' : ''}`}>
      Arguments of <a href={hrefOf({ view: 'calls', serial: call.serial, filter: {} })}>call {call.serial}</a>
      . {obstacle ?? 'Change what you like and run it again.'}
    </p>
  )
}

function Schemas({ tool }: { tool: ToolInfo }) {
  return (
    <div className="disclosures">
      <details>
        <summary>Schema of the arguments</summary>
        <JsonBlock value={tool.schema} label="Schema of the arguments" />
      </details>
      {tool.outputSchema && (
        <details>
          <summary>Schema of the result</summary>
          <JsonBlock value={tool.outputSchema} label="Schema of the result" />
        </details>
      )}
    </div>
  )
}
