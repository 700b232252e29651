import { useState } from 'react'
import { restartServer } from '../../api/gateway-api.ts'
import type { ServerStatus } from '../../api/types.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { TextBlock } from '../../components/code-block.tsx'
import { Icon } from '../../components/icon.tsx'
import { useNow } from '../../components/use-now.ts'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { counted, durationText } from '../../text/figures.ts'
import { visibleText } from '../../text/visible-text.ts'

const TONES: Record<ServerStatus['state'], Tone> = {
  starting: 'accent',
  ready: 'good',
  lost: 'warn',
  failed: 'bad',
  closed: 'plain',
}

export function ServerCard({ server }: { server: ServerStatus }) {
  return (
    <article className="card server" aria-label={`Server ${server.name}`}>
      <div className="server-head">
        <h2>{visibleText(server.name)}</h2>
        <span aria-live="polite">
          <Badge tone={TONES[server.state] ?? 'plain'}>{server.state}</Badge>
        </span>
        <RestartButton server={server} />
      </div>
      {server.error && server.state !== 'ready' && (
        <p className="failure-error">{visibleText(server.error)}</p>
      )}
      {server.nextAttemptAt && <NextAttempt at={Date.parse(server.nextAttemptAt)} />}
      <Facts server={server} />
      <ToolLinks tools={server.tools} />
      <Stderr server={server} />
    </article>
  )
}

function NextAttempt({ at }: { at: number }) {
  const now = useNow(500)
  const seconds = Math.ceil((at - now) / 1_000)
  return (
    <p className="next-attempt figure">{seconds > 0 ? `Next attempt in ${seconds} s` : 'Trying now …'}</p>
  )
}

function Facts({ server }: { server: ServerStatus }) {
  const facts: [term: string, value: string | undefined][] = [
    ['Attempt', server.state === 'ready' && server.attempts <= 1 ? undefined : String(server.attempts)],
    ['Process', server.pid === undefined || server.pid === null ? undefined : String(server.pid)],
    ['Protocol', server.protocolVersion ?? undefined],
    ['Ready after', typeof server.readyAfterMs === 'number' ? durationText(server.readyAfterMs) : undefined],
    ['Exit code', server.exitCode === null || server.state === 'ready' ? undefined : String(server.exitCode)],
    ['Stray lines on stdout', server.junkLines > 0 ? String(server.junkLines) : undefined],
  ]
  return (
    <dl className="facts">
      {facts.map(
        ([term, value]) =>
          value !== undefined && (
            <div key={term}>
              <dt>{term}</dt>
              <dd className="figure">{visibleText(value)}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function ToolLinks({ tools }: { tools: string[] }) {
  if (tools.length === 0) return <p className="muted">No tools at the moment.</p>
  return (
    <details className="server-tools" open={tools.length <= 12}>
      <summary>{counted(tools.length, 'tool')}</summary>
      <div className="chips">
        {tools.map(tool => (
          <a key={tool} className="chip" href={hrefOf({ view: 'tools', tool })}>
            {visibleText(tool)}
          </a>
        ))}
      </div>
    </details>
  )
}

function Stderr({ server }: { server: ServerStatus }) {
  if (server.stderr.trim() === '') return null
  return (
    <details open={server.state !== 'ready'}>
      <summary>stderr</summary>
      <TextBlock text={server.stderr} label={`stderr of ${server.name}`} className="code-log" />
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
          {visibleText(state.problem)}
        </span>
      )}
      <button
        type="button"
        className="button"
        disabled={state === 'busy'}
        aria-label={`Restart ${server.name}`}
        onClick={() => void restart()}
      >
        <Icon name="restart" /> {state === 'busy' ? 'Restarting …' : 'Restart'}
      </button>
    </div>
  )
}
