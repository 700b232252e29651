import { ArrowLeft, LogIn, Play, RotateCw, Square } from 'lucide-react'
import type { ServerStatus } from 'toolpost/gateway'
import { acceptChangedTools, changeServer, logIn } from '../../api/gateway.ts'
import { pauseOf, queryClient, useChangedTools } from '../../api/queries.ts'
import { hrefTo } from '../../router.ts'
import { counted, durationText } from '../../text/figures.ts'
import { clipped, oneLine, visibleText } from '../../text/visible-text.ts'
import { CodeBlock } from '../../ui/code.tsx'
import { Button, Facts, Notice, Section, TimeLeft, useNow } from '../../ui/controls.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { attempt } from '../../ui/toast.tsx'
import { Messages } from './messages.tsx'
import { Offers } from './offers.tsx'
import { ServerState } from './server-state.tsx'

export function ServerDetail({ server }: { server: ServerStatus }) {
  const { state, capabilities = [] } = server
  const hasOffers = capabilities.includes('resources') || capabilities.includes('prompts')
  return (
    <article className="flex flex-col gap-4 p-4" aria-label={`Server ${oneLine(server.name, 80)}`}>
      <a className="row text-muted md:hidden" href="#/servers">
        <ArrowLeft size={14} aria-hidden="true" /> All servers
      </a>
      <header className="flex flex-wrap items-center gap-2">
        <h1 className="text-lg break-all">{oneLine(server.name, 100)}</h1>
        <span aria-live="polite" className="mr-auto">
          <ServerState server={server} />
        </span>
        <Actions server={server} />
      </header>
      <Trouble server={server} />
      <ChangedTools server={server.name} />
      <Tabs
        label="About this server"
        tabs={[
          { value: 'overview', label: 'Overview', content: <Overview server={server} /> },
          {
            value: 'messages',
            label: 'Messages and stderr',
            content: (
              <div className="grid gap-5 2xl:grid-cols-[2fr_1fr]">
                <Messages server={server.name} />
                <Section title="stderr">
                  {server.stderr ? (
                    <CodeBlock text={server.stderr} label="stderr" className="max-h-[60vh]" />
                  ) : (
                    <p className="text-muted">It has written nothing to stderr.</p>
                  )}
                </Section>
              </div>
            ),
          },
          hasOffers &&
            state === 'ready' && {
              value: 'offers',
              label: 'Resources and prompts',
              content: <Offers server={server.name} />,
            },
        ]}
      />
    </article>
  )
}

function Actions({ server: { name, state } }: { server: ServerStatus }) {
  const change = (verb: 'restart' | 'stop' | 'start') => void attempt(() => changeServer(name, verb))
  return (
    <div className="row">
      {state === 'needs_login' && (
        <Button look="primary" icon={LogIn} onClick={() => void attempt(() => openLogin(name))}>
          Log in
        </Button>
      )}
      {state === 'closed' ? (
        <Button icon={Play} onClick={() => change('start')}>
          Start
        </Button>
      ) : (
        <>
          <Button icon={RotateCw} onClick={() => change('restart')}>
            Restart
          </Button>
          <Button icon={Square} onClick={() => change('stop')}>
            Stop
          </Button>
        </>
      )}
    </div>
  )
}

/** In a new window, opened before any await: later, a browser would block it as a pop-up. */
async function openLogin(name: string): Promise<void> {
  const page = window.open('about:blank', '_blank')
  try {
    const url = await logIn(name)
    if (url === undefined) return page?.close()
    if (!/^https?:/.test(url)) throw new Error('The gateway returned no login page')
    if (!page) return location.assign(url)
    page.opener = null
    page.location.replace(url)
  } catch (error) {
    page?.close()
    throw error
  }
}

/** What the server changed about its tools since the owner accepted them. */
function ChangedTools({ server }: { server: string }) {
  const { data = [] } = useChangedTools()
  const changes = data.filter(change => change.server === server)
  if (changes.length === 0) return null
  const accept = async () => {
    await acceptChangedTools(server)
    await queryClient.invalidateQueries({ queryKey: ['tools'] })
  }
  return (
    <Notice tone="warn" className="flex-col items-start">
      <p>
        {counted(changes.length, 'tool')} changed since you accepted {changes.length === 1 ? 'it' : 'them'}.
      </p>
      <CodeBlock text={changes.map(({ text }) => text).join('\n')} label="What changed" />
      <Button onClick={() => void attempt(accept)}>Accept</Button>
    </Notice>
  )
}

/** Why it is not ready, or why calls do not reach it, and what happens next. */
function Trouble({ server }: { server: ServerStatus }) {
  const { state, error, hint, nextAttemptAt } = server
  const pause = pauseOf(server)
  const isDown = state !== 'ready' && state !== 'closed' && Boolean(error)
  if (!pause && !isDown) return null
  const next = isDown ? nextAttemptAt : pause?.retryAt
  return (
    <Notice tone={isDown && state === 'failed' ? 'bad' : 'warn'} className="flex-col items-start">
      {isDown && <p className="whitespace-pre-wrap">{clipped(error ?? '', 2_000)}</p>}
      {pause && (
        <p>
          Calls are paused: {counted(pause.failures, 'call')} in a row failed.{' '}
          {pause.error && clipped(pause.error, 500)}
        </p>
      )}
      {isDown && hint && <p>Check: {oneLine(hint, 400)}</p>}
      {next && (
        <p>
          Next attempt in <TimeLeft until={Date.parse(next)} />.
        </p>
      )}
    </Notice>
  )
}

function Overview({ server }: { server: ServerStatus }) {
  const { info, readySince, capabilities = [], tools } = server
  const isReady = server.state === 'ready'
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={{
          Runs: server.target && <code className="break-all">{visibleText(server.target)}</code>,
          Version: info?.version && oneLine(`${info.title ?? info.name ?? ''} ${info.version}`.trim(), 80),
          Protocol: server.protocolVersion && oneLine(server.protocolVersion, 40),
          Capabilities: oneLine(capabilities.join(', '), 200),
          Uptime: readySince !== undefined && <Uptime since={readySince} />,
          Process: server.pid,
          Attempt: isReady && server.attempts <= 1 ? undefined : server.attempts || undefined,
          'Exit code': isReady || server.exitCode === null ? undefined : String(server.exitCode),
          'Non-JSON-RPC lines on stdout': server.junkLines > 0 && server.junkLines,
        }}
      />
      <Section title={counted(tools.length, 'tool')}>
        <ul className="flex flex-wrap gap-1.5">
          {tools.slice(0, 300).map(tool => (
            <li key={tool}>
              <a
                className="block rounded bg-raised px-2 py-0.5 hover:text-accent"
                href={hrefTo(['tools', tool])}
              >
                {oneLine(tool, 80)}
              </a>
            </li>
          ))}
        </ul>
      </Section>
      {info?.instructions && (
        <Section title="Instructions">
          <div className="max-w-3xl">
            <Markdown text={info.instructions} first={4_000} />
          </div>
        </Section>
      )}
    </div>
  )
}

function Uptime({ since }: { since: number }) {
  return durationText(Math.floor(Math.max(1_000, useNow(1_000) - since) / 1_000) * 1_000)
}
