import type { ToolInfo } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { useNow } from '../../components/use-now.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { type ToolRun, toolRuns } from '../../state/tool-runs.ts'
import { durationText } from '../../text/figures.ts'
import { FORM_ID } from './arguments-editor.tsx'

interface Props {
  tool: ToolInfo
  deadline: string
  onDeadline: (text: string) => void
}

export function RunBar({ tool, deadline, onDeadline }: Props) {
  const run = useStore(toolRuns, runs => runs[tool.name])
  const open = useStore(gateway, state => state.connection.state === 'open')
  const running = run !== undefined && run.outcome === undefined
  return (
    <div className="run-bar">
      {running ? (
        <Running run={run} />
      ) : (
        <Button
          type="submit"
          form={FORM_ID}
          icon="play"
          look={tool.destructive ? 'danger' : 'primary'}
          disabled={!open}
        >
          Run
        </Button>
      )}
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

function Running({ run }: { run: ToolRun }) {
  const now = useNow(100)
  return (
    <>
      <Button icon="stop" onClick={run.cancel}>
        Cancel
      </Button>
      <span className="running" role="status">
        <span className="spinner" aria-hidden="true" />
        Running
        <span className="figure" aria-hidden="true">
          {durationText(Math.max(100, Math.round((now - run.startedAt) / 100) * 100))}
        </span>
      </span>
    </>
  )
}
