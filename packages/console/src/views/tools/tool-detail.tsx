import { ArrowLeft, Play, Square } from 'lucide-react'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { CallRecord, ToolInfo } from 'toolpost/gateway'
import { useIsOpen, useLive } from '../../api/events.ts'
import type { CallOutcome } from '../../api/gateway.ts'
import { formKind } from '../../form/form-schema.ts'
import { hrefTo } from '../../router.ts'
import { durationText } from '../../text/figures.ts'
import { clipped, oneLine } from '../../text/visible-text.ts'
import { Badge, Button, LinkButton, Notice, Section, Spinner } from '../../ui/controls.tsx'
import { ErrorBoundary } from '../../ui/error-boundary.tsx'
import { Json } from '../../ui/json.tsx'
import { lazily } from '../../ui/lazily.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { Running } from '../../ui/progress.tsx'
import { ResultView } from '../../ui/result-view.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { obstacleToRepeat } from '../calls/repeat.ts'
import {
  argumentsOf,
  argumentsText,
  type Draft,
  draftOf,
  exampleOf,
  runTool,
  setDraft,
  useDrafts,
  useRuns,
} from './drafts.ts'
import { RequestSnippets } from './request-snippets.tsx'

const SchemaForm = lazily(() => import('../../form/schema-form.tsx'), 'SchemaForm')

/** The run button is outside the form and refers to it by id. */
const FORM_ID = 'call'

/** A tool: its form, the result of the last call, and the request as code. `call` is one to run again. */
export function ToolDetail({ tool, call }: { tool: ToolInfo; call: CallRecord | undefined }) {
  const kept = useDrafts(({ drafts }) => drafts[tool.name])
  const [first] = useState(() => (call || !kept ? draftOf(tool.schema, call?.args ?? {}) : kept))
  const [draft, setOwn] = useState(first)
  /** Counts arguments that were not typed, which need a new form. */
  const [filled, setFilled] = useState(0)
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part }
    setOwn(next)
    setDraft(tool.name, next)
  }
  const use = (args: unknown) => {
    change({ ...draftOf(tool.schema, args), limit: draft.limit })
    setFilled(filled + 1)
  }
  const seconds = Number(draft.limit)
  const run = (args: unknown) => void runTool(tool.name, args, seconds > 0 ? seconds * 1_000 : undefined)
  const current = argumentsOf(draft)
  return (
    <article className="flex flex-col gap-5 p-4" aria-label={`Tool ${oneLine(tool.name, 80)}`}>
      <Head tool={tool} />
      {call && <Reused call={call} />}
      <div className="grid gap-5 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-3">
          <Arguments key={filled} tool={tool} draft={draft} onChange={change} onRun={run} />
          <RunBar tool={tool} draft={draft} onChange={change} onUse={use} />
        </div>
        <Result tool={tool.name} />
      </div>
      <Tabs
        label="About this tool"
        tabs={[
          {
            value: 'request',
            label: 'Request',
            content: <RequestSnippets tool={tool.name} args={'args' in current ? current.args : {}} />,
          },
          {
            value: 'schema',
            label: 'Input schema',
            content: <Json value={tool.schema} label="Input schema" />,
          },
          tool.outputSchema && {
            value: 'output',
            label: 'Output schema',
            content: <Json value={tool.outputSchema} label="Output schema" />,
          },
        ]}
      />
    </article>
  )
}

function Head({ tool }: { tool: ToolInfo }) {
  const { title, destructive, readOnly, idempotent, timeoutMs } = tool
  return (
    <header className="flex flex-col gap-1.5">
      <a className="row text-muted md:hidden" href="#/tools">
        <ArrowLeft size={14} aria-hidden="true" /> All tools
      </a>
      <div className="row flex-wrap">
        <h1 className="text-lg break-all">{oneLine(tool.name, 200)}</h1>
        <Badge tone="accent">{oneLine(tool.source, 60)}</Badge>
        {readOnly && <Badge>read-only</Badge>}
        {destructive && <Badge tone="warn">destructive</Badge>}
        {idempotent && <Badge>idempotent</Badge>}
        {timeoutMs !== undefined && <Badge>limit {durationText(timeoutMs)}</Badge>}
      </div>
      {typeof title === 'string' && title !== tool.name && <p className="font-medium">{oneLine(title)}</p>}
      <div className="max-w-3xl text-muted">
        <Markdown text={tool.rawDescription ?? tool.description ?? ''} first={1_000} />
      </div>
      <code className="text-xs break-words text-muted">{clipped(tool.signature ?? '', 600)}</code>
    </header>
  )
}

function Reused({ call }: { call: CallRecord }) {
  const obstacle = obstacleToRepeat(call.args)
  return (
    <Notice tone={obstacle ? 'warn' : 'plain'}>
      <span>
        Arguments of{' '}
        <a className="link" href={hrefTo(['calls', call.serial])}>
          this call
        </a>
        . {obstacle ?? 'Change what you like and run it again.'}
      </span>
    </Notice>
  )
}

interface ArgumentsProps {
  tool: ToolInfo
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  onRun: (args: unknown) => void
}

function Arguments({ tool, draft, onChange, onRun }: ArgumentsProps) {
  const kind = formKind(tool.schema)
  const parsed = argumentsOf(draft)
  const toJson = () => onChange({ mode: 'json', text: argumentsText(draft.args) })
  const json = <JsonArguments draft={draft} onChange={onChange} onRun={onRun} />
  if (kind === 'none')
    return (
      <Section title="Arguments">
        <form
          id={FORM_ID}
          onSubmit={event => {
            event.preventDefault()
            onRun({})
          }}
        >
          <p className="text-muted">This tool takes no arguments.</p>
        </form>
      </Section>
    )
  const modes = kind === 'form' && (
    <fieldset className="row" aria-label="Enter the arguments as">
      {(['form', 'json'] as const).map(mode => (
        <button
          key={mode}
          type="button"
          aria-pressed={draft.mode === mode}
          disabled={mode === 'form' && 'problem' in parsed}
          className={`rounded px-1.5 text-xs font-medium ${draft.mode === mode ? 'bg-raised text-text' : 'text-muted'}`}
          onClick={() =>
            mode === 'json' ? toJson() : 'args' in parsed && onChange({ mode, args: parsed.args })
          }
        >
          {mode === 'form' ? 'Form' : 'JSON'}
        </button>
      ))}
    </fieldset>
  )
  return (
    <Section title="Arguments" action={modes}>
      {kind === 'json' && (
        <p className="text-muted">Enter the arguments as JSON: the schema does not fit a form.</p>
      )}
      {draft.mode === 'json' || kind === 'json' ? (
        json
      ) : (
        <ErrorBoundary fallback={json}>
          <Suspense fallback={<Spinner label="Loading the form" />}>
            <SchemaForm
              id={FORM_ID}
              schema={tool.schema}
              args={draft.args}
              onChange={args => onChange({ args })}
              onSubmit={onRun}
            />
          </Suspense>
        </ErrorBoundary>
      )}
    </Section>
  )
}

function JsonArguments({ draft, onChange, onRun }: Omit<ArgumentsProps, 'tool'>) {
  const [isChecked, setChecked] = useState(false)
  const parsed = argumentsOf({ ...draft, mode: 'json' })
  const problem = isChecked && 'problem' in parsed ? parsed.problem : undefined
  return (
    <form
      id={FORM_ID}
      className="flex flex-col gap-1"
      onSubmit={event => {
        event.preventDefault()
        setChecked(true)
        if ('args' in parsed) onRun(parsed.args)
      }}
    >
      <textarea
        className="control font-mono text-xs"
        aria-label="Arguments as JSON"
        aria-invalid={problem !== undefined}
        spellCheck={false}
        rows={Math.min(20, Math.max(6, draft.text.split('\n').length + 1))}
        value={draft.text}
        onChange={event => onChange({ mode: 'json', text: event.target.value })}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      {problem && (
        <p className="text-xs text-bad" role="alert">
          {oneLine(problem)}
        </p>
      )}
    </form>
  )
}

interface RunBarProps extends Omit<ArgumentsProps, 'onRun'> {
  /** Replaces the arguments. */
  onUse: (args: unknown) => void
}

function RunBar({ tool, draft, onChange, onUse }: RunBarProps) {
  const run = useRuns(runs => runs[tool.name])
  const isOpen = useIsOpen()
  const isRunning = run !== undefined && run.outcome === undefined
  const example = exampleOf(tool)
  return (
    <div className="row flex-wrap">
      {/* Two buttons, by their keys: a click on one must not become a click on the other. */}
      {isRunning ? (
        <Button key="cancel" icon={Square} onClick={run.cancel}>
          Cancel
        </Button>
      ) : (
        <Button key="run" icon={Play} type="submit" form={FORM_ID} look="primary" disabled={!isOpen}>
          Run
        </Button>
      )}
      {example && (
        <Button look="quiet" onClick={() => onUse(example)}>
          Example
        </Button>
      )}
      <label className="row ml-auto text-xs text-muted">
        Time limit
        <input
          className="control w-20"
          inputMode="decimal"
          placeholder="default"
          value={draft.limit}
          onChange={event => onChange({ limit: event.target.value })}
        />
        s
      </label>
    </div>
  )
}

/** The region exists before the result, so that screen readers announce it. */
function Result({ tool }: { tool: string }) {
  const run = useRuns(runs => runs[tool])
  const call = useLive(({ running }) => run && Object.values(running).find(({ id }) => id === run.id))
  const section = useRef<HTMLElement>(null)
  const [shown] = useState(run?.outcome)
  useEffect(() => {
    if (run?.outcome && run.outcome !== shown) section.current?.scrollIntoView({ block: 'nearest' })
  }, [run?.outcome, shown])
  return (
    <section ref={section} aria-label="Result" aria-live="polite" className="flex min-w-0 flex-col gap-2">
      <h2 className="label flex min-h-7 items-center">Result</h2>
      {run === undefined && <p className="text-muted">Run the tool to see its result.</p>}
      {run?.outcome && <Ended outcome={run.outcome} tool={tool} />}
      {run && !run.outcome && <Running startedAt={run.startedAt} progress={call?.progress} />}
    </section>
  )
}

function Ended({ outcome, tool }: { outcome: CallOutcome; tool: string }) {
  if (outcome.kind === 'result')
    return (
      <>
        <ResultView result={outcome.result} />
        <LinkButton look="quiet" className="-ml-3 self-start" href={hrefTo(['calls'], { tool })}>
          Show in history
        </LinkButton>
      </>
    )
  const isCancelled = outcome.kind === 'cancelled'
  return (
    <div className="flex flex-col gap-2">
      <p className="row">
        <Badge tone={isCancelled ? 'warn' : 'bad'}>{isCancelled ? 'cancelled' : 'no answer'}</Badge>
        {isCancelled && <span className="text-muted">after {durationText(outcome.afterMs)}</span>}
      </p>
      {!isCancelled && <p>{clipped(outcome.message, 2_000)}</p>}
      <p className="text-muted">The call may still have taken effect.</p>
    </div>
  )
}
