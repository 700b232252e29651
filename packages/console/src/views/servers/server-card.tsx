import { useEffect, useRef } from 'react'
import type { BreakerStatus, ServerStatus } from 'toolpost/gateway'
import { Badge, type Tone } from '../../components/badge.tsx'
import { LongText } from '../../components/code-block.tsx'
import { Facts } from '../../components/facts.tsx'
import { Markdown } from '../../components/markdown/markdown.tsx'
import { ToolChips } from '../../components/tool-chips.tsx'
import { useCountdown, useNow } from '../../components/use-now.ts'
import { counted, durationText, longDurationText } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { LoginButton } from './login-button.tsx'
import { Offers } from './offers.tsx'
import { ServerActions } from './server-actions.tsx'
import { Stderr } from './stderr.tsx'

const TONES: Record<ServerStatus['state'], Tone> = {
  starting: 'accent',
  ready: 'good',
  lost: 'warn',
  failed: 'bad',
  needs_login: 'warn',
  closed: 'plain',
}

/** State names for people. */
const WORDS: Partial<Record<ServerStatus['state'], string>> = {
  needs_login: 'needs login',
  closed: 'stopped',
}

export function ServerCard({ server, isNamed }: { server: ServerStatus; isNamed: boolean }) {
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isNamed) card.current?.scrollIntoView({ block: 'start' })
  }, [isNamed])
  const { state, info } = server
  return (
    <article
      ref={card}
      className={`card server ${isNamed ? 'server-named' : ''}`}
      aria-label={`Server ${oneLine(server.name)}`}
    >
      <div className="server-head">
        <h2>{oneLine(server.name)}</h2>
        <span aria-live="polite">
          <Badge tone={TONES[state] ?? 'plain'}>{WORDS[state] ?? oneLine(state, 40)}</Badge>
        </span>
        {state === 'needs_login' && <LoginButton server={server} />}
        <ServerActions server={server} />
      </div>
      {server.target && (
        <code className="server-target" title="Command or URL">
          {visibleText(server.target)}
        </code>
      )}
      {server.breaker && <Paused breaker={server.breaker} />}
      {server.error && state !== 'ready' && (
        <LongText className="failure-error" text={String(server.error)} />
      )}
      {server.nextAttemptAt && <NextAttempt at={Date.parse(server.nextAttemptAt)} />}
      {server.hint && state !== 'ready' && state !== 'starting' && (
        <p className="server-hint">Check: {oneLine(server.hint, 400)}</p>
      )}
      <Facts facts={factsOf(server)} />
      {info?.instructions && (
        <details className="server-instructions">
          <summary>Instructions</summary>
          <Markdown text={info.instructions} />
        </details>
      )}
      <ToolLinks tools={server.tools} />
      {state === 'ready' && <Offers server={server} />}
      <Stderr server={server} />
    </article>
  )
}

/** Why calls are paused, and when the next one goes through. */
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

function factsOf(server: ServerStatus): Record<string, React.ReactNode> {
  const isReady = server.state === 'ready'
  const { info, readySince, capabilities = [] } = server
  const text = (value: unknown) => (value == null ? undefined : oneLine(String(value)))
  return {
    Version: info?.version && oneLine([info.title ?? info.name, info.version].filter(Boolean).join(' '), 80),
    Protocol: text(server.protocolVersion),
    Capabilities: capabilities.length > 0 ? oneLine(capabilities.join(', '), 200) : undefined,
    Uptime: typeof readySince === 'number' ? <Uptime since={readySince} /> : undefined,
    Attempt: isReady && server.attempts <= 1 ? undefined : text(server.attempts || undefined),
    Process: text(server.pid),
    'Ready after': typeof server.readyAfterMs === 'number' ? durationText(server.readyAfterMs) : undefined,
    'Exit code': isReady ? undefined : text(server.exitCode),
    'Non-JSON-RPC lines on stdout': server.junkLines > 0 ? text(server.junkLines) : undefined,
  }
}

function Uptime({ since }: { since: number }) {
  return longDurationText(Math.max(0, useNow(1_000) - since))
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
