import { useState } from 'react'
import type { BreakerStatus, ServerStatus } from 'toolpost/gateway'
import { restartServer } from '../../api/gateway-api.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { LongText, TextBlock } from '../../components/code-block.tsx'
import { Facts } from '../../components/facts.tsx'
import { ToolChips } from '../../components/tool-chips.tsx'
import { useCountdown } from '../../components/use-now.ts'
import { gateway } from '../../state/gateway.ts'
import { counted, durationText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { LoginButton } from './login-button.tsx'

const TONES: Record<ServerStatus['state'], Tone> = {
  starting: 'accent',
  ready: 'good',
  lost: 'warn',
  failed: 'bad',
  needs_login: 'warn',
  closed: 'plain',
}

export function ServerCard({ server }: { server: ServerStatus }) {
  return (
    <article className="card server" aria-label={`Server ${oneLine(server.name)}`}>
      <div className="server-head">
        <h2>{oneLine(server.name)}</h2>
        <span aria-live="polite">
          <Badge tone={TONES[server.state] ?? 'plain'}>{oneLine(server.state, 40).replace('_', ' ')}</Badge>
        </span>
        {server.state === 'needs_login' && <LoginButton server={server} />}
        <RestartButton server={server} />
      </div>
      {server.breaker && <Paused breaker={server.breaker} />}
      {server.error && server.state !== 'ready' && (
        <LongText className="failure-error" text={String(server.error)} />
      )}
      {server.nextAttemptAt && <NextAttempt at={Date.parse(server.nextAttemptAt)} />}
      <Facts facts={factsOf(server)} />
      <ToolLinks tools={server.tools} />
      <Stderr server={server} />
    </article>
  )
}

/** Why calls do not reach the server now, and when the next one does. */
function Paused({ breaker: { state, failures, retryAt, error } }: { breaker: BreakerStatus }) {
  if (state === 'closed') return null
  return (
    <div className="server-paused" aria-live="polite">
      <p>
        <Badge tone="warn">Calls paused</Badge> {counted(failures, 'call')} in a row failed
        {state === 'half-open' && '; the next call is let through'}
      </p>
      {retryAt && <NextAttempt at={Date.parse(retryAt)} />}
      {error && <LongText className="muted" text={error} />}
    </div>
  )
}

function NextAttempt({ at }: { at: number }) {
  return <p className="next-attempt figure">{useCountdown(at, 'Trying now …')}</p>
}

function factsOf(server: ServerStatus): Record<string, string | undefined> {
  const isReady = server.state === 'ready'
  const text = (value: unknown) => (value == null ? undefined : oneLine(String(value)))
  return {
    Attempt: isReady && server.attempts <= 1 ? undefined : text(server.attempts),
    Process: text(server.pid),
    Protocol: text(server.protocolVersion),
    'Ready after': typeof server.readyAfterMs === 'number' ? durationText(server.readyAfterMs) : undefined,
    'Exit code': isReady ? undefined : text(server.exitCode),
    'Non-JSON-RPC lines on stdout': server.junkLines > 0 ? text(server.junkLines) : undefined,
  }
}

function ToolLinks({ tools }: { tools: string[] }) {
  if (tools.length === 0) return <p className="muted">No tools.</p>
  return (
    <details className="server-tools" open={tools.length <= 12}>
      <summary>{counted(tools.length, 'tool')}</summary>
      <div className="chips">
        <ToolChips names={tools} />
      </div>
    </details>
  )
}

function Stderr({ server }: { server: ServerStatus }) {
  if (server.stderr.trim() === '') return null
  return (
    <details open={server.state !== 'ready'}>
      <summary>stderr</summary>
      <TextBlock text={server.stderr} label={`stderr of ${oneLine(server.name)}`} className="code-log" />
    </details>
  )
}

function RestartButton({ server }: { server: ServerStatus }) {
  const [state, setState] = useState<'idle' | 'busy' | { problem: string }>('idle')
  const restart = async () => {
    setState('busy')
    try {
      gateway.putServer(await restartServer(server.name))
      setState('idle')
    } catch (error) {
      setState({ problem: error instanceof Error ? error.message : String(error) })
    }
  }
  return (
    <div className="server-restart">
      {typeof state === 'object' && (
        <span className="field-problem" role="alert">
          {oneLine(state.problem)}
        </span>
      )}
      <Button
        icon="restart"
        disabled={state === 'busy'}
        aria-label={`Restart ${oneLine(server.name)}`}
        onClick={() => void restart()}
      >
        {state === 'busy' ? 'Restarting …' : 'Restart'}
      </Button>
    </div>
  )
}
