import { escapeControls } from '../logging/safe-value.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Project } from '../project/project.ts'
import type { ProjectStatus } from '../project/project-options.ts'
import { attemptsText } from './doctor.ts'
import { say, type Terminal } from './terminal.ts'

const SHOWN_NAMES = 12
const MARKS = { ready: '✔', starting: '…', lost: '…', failed: '✘', missing: '✘' }

/** The state of everything running, one line each: what is ready, what is not and why. */
export function statusLines(project: Project, traces: string | undefined): string[] {
  const { servers, problem, model, voice, history, durable } = project.status()
  const local = project.tools.getTools().filter(tool => !project.tools.originOf(tool))
  return [
    line('✔', 'local', toolsText(local.map(({ name }) => name))),
    ...servers.map(serverLine),
    problem === undefined ? '' : line('✘', 'servers', `not started: ${problem}`),
    model ? line('✔', 'chat', `${model.name}: ${model.why}`) : line('…', 'chat', 'still looking for a model'),
    ...voice.map(partLine),
    traces === undefined ? '' : line('✔', 'traces', traces),
    history ? historyLine(history) : '',
    durable ? partLine({ ...durable, name: 'durable' }) : '',
  ].filter(text => text !== '')
}

function serverLine({ name, state, tools, error, attempts, nextAttemptAt }: ServerStatus): string {
  if (state === 'ready') return line('✔', name, `ready, ${toolsText(tools)}`)
  const next = nextAttemptAt ? `, next attempt at ${nextAttemptAt.slice(11, 19)}` : ''
  if (state === 'needs_login') return line('✘', name, `needs a login: ${error}`)
  if (state === 'failed')
    return line('✘', name, `failed${attemptsText(attempts)}: ${error ?? 'no reason given'}${next}`)
  if (state === 'starting' && error === undefined) return line('…', name, 'still starting')
  return line('…', name, `unreachable; retrying: ${error ?? state}${next}`)
}

function historyLine({ state, problem, file }: NonNullable<ProjectStatus['history']>): string {
  if (state === 'failed') return line('✘', 'history', `calls are not kept: ${problem}`)
  return line(state === 'open' ? '✔' : '…', 'history', file)
}

function partLine({ name, state, text }: { name: string; state: keyof typeof MARKS; text: string }): string {
  return line(MARKS[state], name, text)
}

/** Control characters in what a server sends are shown, not interpreted. */
function line(mark: string, name: string, text: string): string {
  return escapeControls(`${mark} ${name.padEnd(10)} ${text}`)
}

function toolsText(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(', ')
  const count = names.length === 1 ? '1 tool' : `${names.length} tools`
  return `${count}: ${shown}${names.length > SHOWN_NAMES ? ', …' : ''}`
}

const QUIET_STATES = ['starting', 'failed', 'needs_login', 'closed']

/** Announces when a server, a part of the voice gateway or the database comes or goes. Failures are reported elsewhere. */
export function announceChanges(project: Project, terminal: Terminal): () => void {
  const { servers, voice, durable } = project.status()
  const known = new Map([...servers, ...voice].map(({ name, state }) => [name, state as string]))
  // A blank, because a server cannot have such a name.
  known.set(' durable', durable?.state ?? '')
  const announce = (name: string, state: string, text: string) => {
    const before = known.get(name)
    known.set(name, state)
    if (before !== state && !QUIET_STATES.includes(state)) say(terminal, text)
  }
  const stops = [
    project.on('server', server => announce(server.name, server.state, serverLine(server))),
    project.on('voice', parts => {
      for (const part of parts) announce(part.name, part.state, partLine(part))
    }),
    project.on('durable', () => {
      const now = project.status().durable
      if (now) announce(' durable', now.state, partLine({ ...now, name: 'durable' }))
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
