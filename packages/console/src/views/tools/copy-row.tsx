import type { ToolResult } from 'toolpost/gateway'
import { currentToken } from '../../api/token.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asCommand, asCurl, asTest } from '../../snippets/snippets.ts'
import { useStore } from '../../state/store.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { argumentsText } from './draft.ts'

/** Copies the call as a snippet. */
export function CopyRow({
  tool,
  args,
  result,
}: {
  tool: string
  args: unknown
  result?: ToolResult | undefined
}) {
  const run = useStore(toolRuns, runs => runs[tool])
  const ownResult =
    run?.outcome?.kind === 'result' && sameArgs(run.args, args) ? run.outcome.result : undefined
  const options = { tool, args, origin: location.origin, withToken: currentToken() !== undefined }
  return (
    <div className="copy-row">
      <span className="muted">Copy as</span>
      <CopyButton label="toolpost call" text={() => asCommand(options)} />
      <CopyButton label="curl" text={() => asCurl(options)} />
      <CopyButton label="test" text={() => asTest({ ...options, result: result ?? ownResult })} />
    </div>
  )
}

function sameArgs(a: unknown, b: unknown): boolean {
  return a === b || argumentsText(a) === argumentsText(b)
}
