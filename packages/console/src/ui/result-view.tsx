import type { ToolFailure, ToolResult, ToolSuccess } from 'toolpost/gateway'
import { hrefTo } from '../router.ts'
import { durationText } from '../text/figures.ts'
import { clipped, oneLine } from '../text/visible-text.ts'
import { CodeBlock } from './code.tsx'
import { Blocks, blocksOf, KeptResult } from './content.tsx'
import { Badge, Section, type Tone } from './controls.tsx'
import { Json } from './json.tsx'
import { Tabs } from './tabs.tsx'
import { ValueView } from './value-view.tsx'

/** One word per state: `running`, `ok`, or the failure's code. */
export function outcomeOf(result: ToolResult | undefined): { word: string; tone: Tone } {
  if (result === undefined) return { word: 'running', tone: 'accent' }
  if (result.success) return { word: 'ok', tone: 'good' }
  const isSoft = ['denied', 'cancelled', 'limited'].includes(result.code)
  return { word: oneLine(String(result.code), 40).replaceAll('_', ' '), tone: isSoft ? 'warn' : 'bad' }
}

export function Outcome({ result }: { result: ToolResult | undefined }) {
  const { word, tone } = outcomeOf(result)
  return <Badge tone={tone}>{word}</Badge>
}

/** How long the tool took, without the time that it waited for a person or a limit. */
export function toolMs(result: ToolResult): number {
  return Math.max(0, result.execution_time_ms - (result.waited_ms ?? 0))
}

function TimeOf({ result }: { result: ToolResult }) {
  const { waited_ms: waited = 0 } = result
  return (
    <span className="tabular-nums text-muted">
      {durationText(toolMs(result))}
      {waited >= 1 && `, waited ${durationText(waited)}`}
    </span>
  )
}

/** A result: its state, its time, what was repaired, and what came back or went wrong. */
export function ResultView({ result }: { result: ToolResult }) {
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="row">
        <Outcome result={result} />
        <TimeOf result={result} />
      </p>
      <Lines title="Repaired arguments" lines={result.repairs ?? []} />
      {result.success ? <Success result={result} /> : <Failure result={result} />}
    </div>
  )
}

function Success({ result }: { result: ToolSuccess }) {
  const blocks = blocksOf(result)
  const structured = blocks && !isSameAsBlocks(result, blocks) ? result.result : undefined
  return (
    <>
      <Tabs
        label="Result"
        tabs={[
          {
            value: 'content',
            label: 'Content',
            content: blocks ? <Blocks blocks={blocks} /> : <ValueView value={result.result} label="Result" />,
          },
          structured !== undefined && {
            value: 'structured',
            label: 'Structured',
            content: <ValueView value={structured} label="Structured content" />,
          },
          !blocks &&
            result.text !== undefined && {
              value: 'text',
              label: 'For the model',
              content: <ValueView value={result.text} label="Text for the model" />,
            },
          { value: 'raw', label: 'Raw', content: <Json value={result} label="Raw result" /> },
        ]}
      />
      {result.handle !== undefined && <KeptResult handle={result.handle} />}
    </>
  )
}

/** Whether the value is nothing but the blocks, or their text. */
function isSameAsBlocks({ result }: ToolSuccess, blocks: readonly unknown[]): boolean {
  if (result === undefined || result === null || Array.isArray(result)) return true
  const [only] = blocks as { text?: unknown }[]
  return typeof result !== 'object' || (blocks.length === 1 && result === only?.text)
}

function Failure({ result }: { result: ToolFailure }) {
  const { required, signature, suggestions = [], causes = [], details = {} } = result.diagnosis ?? {}
  return (
    <div className="flex flex-col gap-3">
      <p className="font-medium break-words whitespace-pre-wrap text-bad">{clipped(result.error, 4_000)}</p>
      {required && (
        <p>
          <span className="text-muted">Required:</span> {oneLine(required, 500)}
        </p>
      )}
      {signature && <code className="break-words">{clipped(signature, 1_000)}</code>}
      {suggestions.length > 0 && (
        <p className="row flex-wrap">
          <span className="text-muted">Did you mean</span>
          {suggestions.map(name => (
            <a key={name} className="link" href={hrefTo(['tools', name])}>
              {oneLine(name, 80)}
            </a>
          ))}
        </p>
      )}
      <Lines title="Causes" lines={causes} />
      {typeof details.stderr === 'string' && details.stderr && (
        <Section title="stderr of the server">
          <CodeBlock text={details.stderr} label="stderr" />
        </Section>
      )}
      <details>
        <summary className="text-muted">Raw result</summary>
        <div className="mt-2">
          <Json value={result} label="Raw result" />
        </div>
      </details>
    </div>
  )
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <Section title={title}>
      <ul className="list-disc pl-5">
        {lines.map(line => (
          <li key={line}>{oneLine(line, 500)}</li>
        ))}
      </ul>
    </Section>
  )
}
