import type { ToolFailure } from 'toolpost/gateway'
import { durationText } from '../text/figures.ts'
import { clipped, oneLine } from '../text/visible-text.ts'
import { JsonBlock, LongText, TextBlock } from './code-block.tsx'
import { Facts } from './facts.tsx'
import { ToolChips } from './tool-chips.tsx'

/** What to do next, by code. */
const ADVICE: Record<string, string> = {
  unknown_tool: 'There is no tool with this name. Its server may be down: see Servers.',
  invalid_arguments: 'The arguments do not match the schema. Nothing was run.',
  invalid_schema: 'The tool cannot be called until its schema is fixed.',
  timeout: 'The tool did not answer in time. It may still have taken effect.',
  cancelled: 'The call was cancelled. It may still have taken effect.',
  unavailable: 'The service behind the tool is unreachable.',
  denied: 'A person or the policy did not allow it. Nothing was run.',
  limited: 'Too many calls for now. Nothing was run.',
  tool_error: 'The tool itself reported this.',
}

export function FailureView({ failure }: { failure: ToolFailure }) {
  const { error, code, diagnosis = {}, retry_after_ms: retryAfterMs } = failure
  const { required, signature, suggestions = [], causes = [], details = {} } = diagnosis
  const { stderr, ...otherDetails } = details
  return (
    <div className="failure">
      <LongText className="failure-error" text={error} />
      <p className="muted">
        <code>{oneLine(code)}</code> · {ADVICE[code] ?? 'The call failed.'}
      </p>
      <Facts
        facts={{
          'Try again in': typeof retryAfterMs === 'number' ? durationText(retryAfterMs) : undefined,
          Required: required && clipped(required, 2_000),
          Signature: signature && <code>{clipped(signature, 2_000)}</code>,
          'Did you mean': suggestions.length > 0 ? <ToolChips names={suggestions} /> : undefined,
          Causes: causes.length > 0 ? <Causes causes={causes} /> : undefined,
        }}
      />
      {typeof stderr === 'string' && stderr.trim() !== '' && (
        <section>
          <h3>Last lines of the server’s stderr</h3>
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

function Causes({ causes }: { causes: string[] }) {
  return (
    <ol className="causes">
      {causes.map(cause => (
        <li key={cause}>{clipped(cause, 2_000)}</li>
      ))}
    </ol>
  )
}
