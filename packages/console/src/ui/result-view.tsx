import type { ToolFailure, ToolResult, ToolSuccess } from 'toolpost/gateway'
import { hrefTo } from '../router.ts'
import { durationText } from '../text/figures.ts'
import { clipped, oneLine } from '../text/visible-text.ts'
import { CodeBlock } from './code.tsx'
import { Blocks, blocksOf, KeptResult } from './content.tsx'
import { Badge, Section, type Tone } from './controls.tsx'
import { Json } from './json.tsx'
import { type Tab, Tabs } from './tabs.tsx'
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
  const repairs = Array.isArray(result.repairs) ? result.repairs : []
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="row">
        <Outcome result={result} />
        <TimeOf result={result} />
      </p>
      {repairs.length > 0 && (
        <Section title="Repaired arguments">
          <ul className="list-disc pl-5">
            {repairs.map(repair => (
              <li key={String(repair)}>{oneLine(String(repair), 300)}</li>
            ))}
          </ul>
        </Section>
      )}
      {result.success ? <Success result={result} /> : <Failure result={result} />}
    </div>
  )
}

function Success({ result }: { result: ToolSuccess }) {
  const blocks = blocksOf(result)
  const structured = blocks && !isSameAsBlocks(result, blocks) ? result.result : undefined
  const tabs: Tab[] = [
    {
      value: 'content',
      label: 'Content',
      content: (
        <div className="flex flex-col gap-3">
          {blocks ? <Blocks blocks={blocks} /> : <ValueView value={result.result} label="Result" />}
        </div>
      ),
    },
  ]
  if (structured !== undefined)
    tabs.push({
      value: 'structured',
      label: 'Structured',
      content: <ValueView value={structured} label="Structured content" />,
    })
  if (!blocks && typeof result.text === 'string')
    tabs.push({
      value: 'text',
      label: 'For the model',
      content: <ValueView value={result.text} label="Text for the model" />,
    })
  tabs.push({ value: 'raw', label: 'Raw', content: <Json value={result} label="Raw result" /> })
  return (
    <>
      <Tabs label="Result" tabs={tabs} />
      {typeof result.handle === 'string' && <KeptResult handle={result.handle} />}
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
  const { error, diagnosis = {} } = result
  const { required, signature, suggestions, causes, details } = diagnosis
  const names = Array.isArray(suggestions) ? suggestions.slice(0, 5).map(String) : []
  const reasons = Array.isArray(causes) ? causes.map(String) : []
  return (
    <div className="flex flex-col gap-3">
      <p className="font-medium break-words whitespace-pre-wrap text-bad">{clipped(String(error), 4_000)}</p>
      {typeof required === 'string' && required && (
        <p>
          <span className="text-muted">Required:</span> {oneLine(required, 500)}
        </p>
      )}
      {typeof signature === 'string' && <code className="break-words">{clipped(signature, 1_000)}</code>}
      {names.length > 0 && (
        <p className="row flex-wrap">
          <span className="text-muted">Did you mean</span>
          {names.map(name => (
            <a key={name} className="link" href={hrefTo(['tools', name])}>
              {oneLine(name, 80)}
            </a>
          ))}
        </p>
      )}
      {reasons.length > 0 && (
        <Section title="Causes">
          <ul className="list-disc pl-5">
            {reasons.map(cause => (
              <li key={cause}>{oneLine(cause, 500)}</li>
            ))}
          </ul>
        </Section>
      )}
      {typeof details?.stderr === 'string' && details.stderr && (
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
