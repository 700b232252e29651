import type { ToolInfo } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { toolRuns } from '../../state/tool-runs.ts'
import { FORM_ID } from './arguments-editor.tsx'

interface Props {
  tool: ToolInfo
  /** Whether the form is still loading. */
  isLoading: boolean
  deadline: string
  onDeadline: (text: string) => void
}

export function RunBar({ tool, isLoading, deadline, onDeadline }: Props) {
  const run = useStore(toolRuns, runs => runs[tool.name])
  const open = useStore(gateway, state => state.connection.state === 'open')
  const isRunning = run !== undefined && run.outcome === undefined
  return (
    <div className="run-bar">
      {/* Keys: otherwise one button would turn into the other under the pointer and be pressed as well. */}
      {isRunning ? (
        <Button key="cancel" icon="stop" onClick={run.cancel}>
          Cancel
        </Button>
      ) : (
        <Button
          key="run"
          type="submit"
          form={FORM_ID}
          icon="play"
          look={tool.destructive ? 'danger' : 'primary'}
          disabled={!open || isLoading}
        >
          Run
        </Button>
      )}
      <span className="run-keys muted wide-only" aria-hidden="true">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd>
      </span>
      <label className="deadline">
        <span>Deadline</span>
        <input
          type="text"
          inputMode="numeric"
          pattern="\d*"
          placeholder={String(tool.timeoutMs ?? 30_000)}
          value={deadline}
          onChange={event => onDeadline(event.target.value)}
        />
        <span className="muted">ms</span>
      </label>
    </div>
  )
}
