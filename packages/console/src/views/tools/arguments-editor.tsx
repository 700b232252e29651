import { Suspense, type SyntheticEvent, useEffect, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { Loading } from '../../components/empty-state.tsx'
import { ErrorBoundary } from '../../components/error-boundary.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { Segmented } from '../../components/segmented.tsx'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { argumentsText, type Draft, formKind, parseArguments } from './draft.ts'

/** The run button is outside the form and refers to it by id. */
export const FORM_ID = 'call-form'

const SchemaForm = lazyPart(async () => (await import('../../schema/schema-form.tsx')).SchemaForm)

interface Props {
  tool: ToolInfo
  draft: Draft
  /** Whether the arguments are shown unchanged, without defaults. */
  exact: boolean
  onChange: (part: Partial<Draft>) => void
  onRun: (args: unknown) => void
  /** Whether the form is still loading: nothing can be run until then. */
  onLoading: (isLoading: boolean) => void
}

interface FormProps extends Props {
  onUnfit: (reason: string) => void
}

export function ArgumentsEditor(props: Props) {
  const { tool, draft, onChange } = props
  const kind = formKind(tool.schema)
  const [unfit, setUnfit] = useState<string>()
  const fallBack = (reason: string) => {
    setUnfit(reason)
    onChange({ mode: 'json', text: argumentsText(draft.args) })
  }
  return (
    <div className="arguments">
      {kind !== 'none' && (
        <div className="arguments-head">
          <h3>Arguments</h3>
          {kind === 'form' && <ModeSwitch {...props} />}
        </div>
      )}
      {kind === 'none' && draft.mode === 'json' ? (
        <NoArguments onRun={props.onRun} />
      ) : draft.mode === 'form' ? (
        <ErrorBoundary fallback={null} onError={() => fallBack('This schema cannot be shown as a form.')}>
          <Suspense fallback={<LoadingForm onLoading={props.onLoading} />}>
            <CheckedForm {...props} onUnfit={fallBack} />
          </Suspense>
        </ErrorBoundary>
      ) : (
        <>
          {unfit && <p className="notice notice-warn">{unfit} Enter the arguments as JSON.</p>}
          <JsonEditor {...props} />
        </>
      )}
    </div>
  )
}

function LoadingForm({ onLoading }: Pick<Props, 'onLoading'>) {
  useEffect(() => {
    onLoading(true)
    return () => onLoading(false)
  }, [onLoading])
  return <Loading label="Loading the form" rows={3} />
}

function ModeSwitch({ draft, onChange }: Props) {
  const parsed = parseArguments(draft.text)
  const choose = (mode: Draft['mode']) => {
    if (mode === 'json') onChange({ mode, text: argumentsText(draft.args) })
    else if (parsed.ok) onChange({ mode, args: parsed.args })
  }
  const obstacle = draft.mode === 'json' && !parsed.ok ? 'The JSON is invalid' : undefined
  return (
    <Segmented
      label="Enter the arguments as"
      options={[
        { value: 'form', label: 'Form', obstacle },
        { value: 'json', label: 'JSON' },
      ]}
      value={draft.mode}
      onChange={choose}
    />
  )
}

/** Arguments that do not match the schema are not sent, unless the person insists. */
function CheckedForm({ tool, draft, exact, onChange, onRun, onUnfit }: FormProps) {
  const [problems, setProblems] = useState<string[]>([])
  const run = (args: unknown) => {
    setProblems([])
    onRun(args)
  }
  return (
    <>
      <SchemaForm
        id={FORM_ID}
        schema={tool.schema}
        args={draft.args}
        exact={exact}
        checkAlways={problems.length > 0}
        onChange={args => onChange({ args })}
        onRun={run}
        onProblems={setProblems}
        onUnfit={onUnfit}
      />
      {problems.length > 0 && (
        <p className="notice notice-bad" role="alert">
          {oneLine(problems[0] ?? '', 200)}
          {problems.length > 1 ? `, and ${counted(problems.length - 1, 'more problem')}.` : '.'}{' '}
          <button type="button" className="link-button" onClick={() => run(draft.args)}>
            Run anyway
          </button>
        </p>
      )}
    </>
  )
}

function JsonEditor({ tool, draft, onChange, onRun }: Props) {
  const [checked, setChecked] = useState(false)
  const parsed = parseArguments(draft.text)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    setChecked(true)
    if (parsed.ok) onRun(parsed.args)
  }
  const problem = checked && !parsed.ok ? parsed.problem : undefined
  return (
    <form id={FORM_ID} onSubmit={submit}>
      {formKind(tool.schema) === 'json' && <p className="muted">This tool takes any arguments.</p>}
      <textarea
        className="json-input"
        aria-label="Arguments as JSON"
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : 'json-problem'}
        spellCheck={false}
        rows={Math.min(20, Math.max(5, draft.text.split('\n').length + 1))}
        value={draft.text}
        onChange={event => onChange({ text: event.target.value })}
        onBlur={() => setChecked(true)}
        onKeyDown={event => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit(event)}
      />
      {problem && (
        <p id="json-problem" className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}

function NoArguments({ onRun }: { onRun: (args: unknown) => void }) {
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onRun({})
  }
  return (
    <form id={FORM_ID} onSubmit={submit}>
      <p className="muted">This tool takes no arguments.</p>
    </form>
  )
}
