import { useState } from 'react'
import type { ToolFailure, ToolResult, ToolSuccess } from 'toolpost/gateway'
import { handleIn } from '../api/results-api.ts'
import { durationText } from '../text/figures.ts'
import { oneLine, visibleText } from '../text/visible-text.ts'
import { Badge, type Tone } from './badge.tsx'
import { Button } from './button.tsx'
import { JsonBlock } from './code-block.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { FailureView } from './failure-view.tsx'
import { isBlocks } from './viewer/content-blocks.ts'
import { KeptResult } from './viewer/kept-result.tsx'
import { TextView } from './viewer/text-view.tsx'
import { Viewer } from './viewer/viewer.tsx'

interface CallProps {
  args?: unknown
  result?: ToolResult | undefined
  slow?: boolean
}

/** The arguments and the result of a call. */
export function ArgumentsAndResult({ args, result, slow = false }: CallProps) {
  return (
    <>
      <section>
        <h3>Arguments</h3>
        <JsonBlock value={args} label="Arguments" />
      </section>
      <section>
        <h3>Result</h3>
        {result ? <ResultView result={result} slow={slow} /> : <p className="muted">Still running.</p>}
      </section>
    </>
  )
}

/** A result with all its details; a malformed one is shown as raw JSON. */
export function ResultView(props: { result: ToolResult; slow?: boolean }) {
  return (
    <ErrorBoundary fallback={<JsonBlock value={props.result} label="Result" />}>
      <WholeResult {...props} />
    </ErrorBoundary>
  )
}

function WholeResult({ result, slow = false }: { result: ToolResult; slow?: boolean }) {
  const [isRaw, setRaw] = useState(false)
  return (
    <div className="result">
      <div className="result-head">
        {result.success ? <Badge tone="good">Succeeded</Badge> : <FailedBadge result={result} />}
        <span className="figure">{durationText(result.execution_time_ms)}</span>
        {slow && <Badge tone="warn">Slow</Badge>}
        <Button look="quiet" className="raw-switch" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </Button>
      </div>
      {isRaw ? (
        <TextView value={result} label="Raw result" isWrapped />
      ) : (
        <>
          <Repairs repairs={result.repairs} />
          {result.success ? <Value result={result} /> : <FailureView failure={result} />}
        </>
      )}
    </div>
  )
}

/** Outcomes that are not failures of the tool. */
const UNWANTED: Record<string, string> = {
  cancelled: 'Cancelled',
  denied: 'Denied',
  limited: 'Over its limit',
}

export function toneOf({ code }: ToolFailure): Tone {
  return Object.hasOwn(UNWANTED, code) ? 'warn' : 'bad'
}

function FailedBadge({ result }: { result: ToolFailure }) {
  const tone = toneOf(result)
  return <Badge tone={tone}>{tone === 'warn' ? UNWANTED[result.code] : 'Failed'}</Badge>
}

function Repairs({ repairs = [] }: { repairs?: string[] | undefined }) {
  if (repairs.length === 0) return null
  return (
    <div className="notice notice-warn">
      <h3>The arguments were repaired</h3>
      <ul>
        {repairs.map(repair => (
          <li key={repair}>{visibleText(repair)}</li>
        ))}
      </ul>
    </div>
  )
}

function Value({ result }: { result: ToolSuccess }) {
  const handle = handleIn(result)
  const kept = (result as { kept?: readonly { handle: string; mimeType: string }[] }).kept ?? []
  return (
    <>
      <Viewer value={withStructured(result)} />
      {handle !== undefined && !kept.some(one => one.handle === handle) && <KeptResult handle={handle} />}
      {kept.map(part => (
        <KeptResult
          key={part.handle}
          handle={part.handle}
          description={`Binary content (${oneLine(part.mimeType, 60)}) is kept for a while.`}
        />
      ))}
    </>
  )
}

/** A structured value together with its content blocks, or with the text for the model. */
function withStructured({ result, content, text }: ToolSuccess): unknown {
  if (isBlocks(content)) return { content, structuredContent: result }
  const isData = typeof result === 'object' && result !== null && !isBlocks(result)
  return isData && text ? { content: [{ type: 'text', text }], structuredContent: result } : result
}
