import type { ToolFailure, ToolResult } from 'toolpost/gateway'
import { durationText } from '../text/figures.ts'
import { visibleText } from '../text/visible-text.ts'
import { Badge, type Tone } from './badge.tsx'
import { JsonBlock, TextBlock } from './code-block.tsx'
import { type ContentPart, contentOf } from './content-blocks.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { FailureView } from './failure-view.tsx'

interface CallProps {
  args?: unknown
  result?: ToolResult | undefined
  slow?: boolean
}

/** What a call was given, and what it gave. */
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

/** A result with everything that it says. One with parts that are not what they should be is shown as it came. */
export function ResultView(props: { result: ToolResult; slow?: boolean }) {
  return (
    <ErrorBoundary fallback={<JsonBlock value={props.result} label="Result" />}>
      <WholeResult {...props} />
    </ErrorBoundary>
  )
}

function WholeResult({ result, slow = false }: { result: ToolResult; slow?: boolean }) {
  return (
    <div className="result">
      <p className="result-head">
        {result.success ? <Badge tone="good">Succeeded</Badge> : <FailedBadge result={result} />}
        <span className="figure">{durationText(result.execution_time_ms)}</span>
        {slow && <Badge tone="warn">Slow</Badge>}
      </p>
      <Repairs repairs={result.repairs} />
      {result.success ? <ResultValue value={result.result} /> : <FailureView failure={result} />}
    </div>
  )
}

/** What was not to be is no fault. */
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

function ResultValue({ value }: { value: unknown }) {
  const content = contentOf(value)
  if (content === undefined) return <PlainValue value={value} />
  return (
    <div className="content-parts">
      {content.parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result never change their order
        <Part key={at} part={part} />
      ))}
      {content.structured !== undefined && <JsonBlock value={content.structured} label="Structured result" />}
    </div>
  )
}

function Part({ part }: { part: ContentPart }) {
  if (part.kind === 'text') return <TextBlock text={part.text} label="Result" />
  if (part.kind === 'image')
    return <img className="result-image" src={part.address} alt={`Result of the tool (${part.mimeType})`} />
  return (
    <details>
      <summary>{visibleText(part.description)}</summary>
      <JsonBlock value={part.value} label={part.description} />
    </details>
  )
}

function PlainValue({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <JsonBlock value={value} label="Result" />
  if (value === '') return <p className="muted">The tool returned an empty text.</p>
  return <TextBlock text={value} label="Result" />
}
