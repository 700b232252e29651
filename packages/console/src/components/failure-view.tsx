import type { ToolFailure } from '../api/types.ts'
import { hrefOf } from '../routing/route.ts'
import { visibleText } from '../text/visible-text.ts'
import { JsonBlock, TextBlock } from './code-block.tsx'

/** What to do next, by code. */
const ADVICE: Record<string, string> = {
  unknown_tool: 'There is no tool of this name now. Its server may be away: see Servers.',
  invalid_arguments: 'The arguments do not fit the schema. Nothing was run.',
  invalid_schema: 'The tool cannot be called until its schema is put right.',
  timeout: 'The tool did not answer in time. What it had begun may have happened.',
  cancelled: 'The call was cancelled. What the tool had begun may have happened.',
  unavailable: 'The service behind the tool cannot be reached.',
  tool_error: 'The tool itself reported this.',
}

export function FailureView({ failure }: { failure: ToolFailure }) {
  const { error, code, diagnosis = {} } = failure
  const { required, signature, suggestions = [], causes = [], details = {} } = diagnosis
  const { stderr, ...otherDetails } = details
  return (
    <div className="failure">
      <p className="failure-error">{visibleText(error)}</p>
      <p className="muted">
        <code>{visibleText(code)}</code> · {ADVICE[code] ?? 'The call failed.'}
      </p>
      <dl className="facts">
        {required && <Fact term="Required">{visibleText(required)}</Fact>}
        {signature && <Fact term="Signature">{<code>{visibleText(signature)}</code>}</Fact>}
        {suggestions.length > 0 && <Fact term="Did you mean">{<Suggestions names={suggestions} />}</Fact>}
        {causes.length > 0 && <Fact term="Causes">{<Causes causes={causes} />}</Fact>}
      </dl>
      {typeof stderr === 'string' && stderr.trim() !== '' && (
        <section>
          <h3>Last words of the server (stderr)</h3>
          <TextBlock text={stderr} label="stderr of the server" />
        </section>
      )}
      {Object.keys(otherDetails).length > 0 && (
        <section>
          <h3>Details</h3>
          <JsonBlock value={otherDetails} label="Details of the failure" />
        </section>
      )}
    </div>
  )
}

function Fact({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Suggestions({ names }: { names: string[] }) {
  return names.map(name => (
    <a key={name} className="chip" href={hrefOf({ view: 'tools', tool: name })}>
      {visibleText(name)}
    </a>
  ))
}

function Causes({ causes }: { causes: string[] }) {
  return (
    <ol className="causes">
      {causes.map(cause => (
        <li key={cause}>{visibleText(cause)}</li>
      ))}
    </ol>
  )
}
