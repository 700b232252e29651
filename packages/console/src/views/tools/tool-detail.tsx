import { useEffect, useState } from 'react'
import type { CallRecord, ToolInfo } from 'toolpost/gateway'
import { Badge } from '../../components/badge.tsx'
import { IconButton } from '../../components/button.tsx'
import { JsonBlock } from '../../components/code-block.tsx'
import { Icon } from '../../components/icon.tsx'
import { Markdown } from '../../components/markdown/markdown.tsx'
import { hrefOf } from '../../routing/route.ts'
import { obstacleToRepeat, shortSerial } from '../../state/call-list.ts'
import { favourites, useIsFavourite } from '../../state/favourites.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { clipped, oneLine } from '../../text/visible-text.ts'
import { ArgumentsEditor } from './arguments-editor.tsx'
import { CopyRow } from './copy-row.tsx'
import { argumentsOf, type Draft, deadlineMs, draftOf, firstDraft, formKind, keepDraft } from './draft.ts'
import { ReadyMade } from './ready-made.tsx'
import { RunBar } from './run-bar.tsx'
import { RunResult } from './run-result.tsx'
import { ToolBadges } from './tool-marks.tsx'

export function ToolDetail({ tool, call }: { tool: ToolInfo; call: CallRecord | undefined }) {
  const [draft, setDraft] = useState(() => firstDraft(tool, call))
  /** Forces a new form for arguments that were not typed into it. */
  const [filled, setFilled] = useState(0)
  const [isLoading, setLoading] = useState(false)
  useEffect(() => {
    scrollTo(0, 0)
  }, [])
  const change = (part: Partial<Draft>) =>
    setDraft(before => {
      const next = { ...before, ...part }
      keepDraft(tool.name, next)
      return next
    })
  const use = (args: unknown) => {
    change({ ...draftOf(tool, args), deadline: draft.deadline })
    setFilled(filled + 1)
  }
  const run = (args: unknown) => void toolRuns.start(tool.name, args, deadlineMs(draft.deadline))
  const isExact = call !== undefined || filled > 0
  return (
    <article className="tool" aria-labelledby="tool-name">
      <ToolHead tool={tool} />
      {call && <ReusedArguments call={call} />}
      <div className="tool-work">
        <div className="tool-call">
          <section className="card" aria-label="Call this tool">
            <ArgumentsEditor
              key={filled}
              tool={tool}
              draft={draft}
              onChange={change}
              onRun={run}
              onLoading={setLoading}
              exact={isExact}
            />
            {formKind(tool.schema) !== 'none' && <ReadyMade tool={tool} draft={draft} onUse={use} />}
            <RunBar
              tool={tool}
              isLoading={isLoading}
              deadline={draft.deadline}
              onDeadline={deadline => change({ deadline })}
            />
          </section>
        </div>
        <RunResult tool={tool.name} />
        <div className="tool-more">
          <CopyRow tool={tool.name} args={argumentsOf(draft)} />
          <Schemas tool={tool} />
        </div>
      </div>
    </article>
  )
}

function ToolHead({ tool }: { tool: ToolInfo }) {
  return (
    <header className="tool-head">
      <a className="back-link" href={hrefOf({ view: 'tools' })}>
        <Icon name="back" /> All tools
      </a>
      <div className="tool-title">
        <h2 id="tool-name">{oneLine(tool.name)}</h2>
        <FavouriteSwitch tool={tool.name} />
        <Badge tone="accent">{oneLine(tool.source, 60)}</Badge>
        <ToolBadges tool={tool} />
      </div>
      {typeof tool.title === 'string' && tool.title !== tool.name && (
        <p className="tool-subtitle">{oneLine(tool.title)}</p>
      )}
      <Markdown className="tool-description" text={tool.description} first={1_000} />
      <code className="signature">{clipped(tool.signature, 2_000)}</code>
    </header>
  )
}

function FavouriteSwitch({ tool }: { tool: string }) {
  const isFavourite = useIsFavourite(tool)
  return (
    <IconButton
      icon="star"
      label="Favourite"
      isPressed={isFavourite}
      onClick={() => favourites.toggle(tool)}
    />
  )
}

function ReusedArguments({ call }: { call: CallRecord }) {
  const obstacle = obstacleToRepeat(call.args)
  return (
    <p className={`notice ${obstacle ? 'notice-warn' : ''}`}>
      Arguments of{' '}
      <a href={hrefOf({ view: 'calls', serial: call.serial })}>call {shortSerial(call.serial)}</a>.{' '}
      {obstacle ?? 'Edit them and run the call again.'}
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
