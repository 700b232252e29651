import { escapeControls } from '../logging/safe-value.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { DurableStatus } from '../project/durable.ts'
import type { Project } from '../project/project.ts'
import type { ProjectStatus } from '../project/project-options.ts'
import type { VoicePart } from '../project/voice.ts'
import { say, type Terminal } from './terminal.ts'

/** A snapshot of everything running. */
export interface Overview extends ProjectStatus {
  /** Where the configuration was read from. */
  file: string | undefined
  url: string
  /** The address of the console, with the token. */
  console: string
  takenPort: number | undefined
  localTools: readonly string[]
  /** Where traces are exported to, if anywhere. */
  traces?: string | undefined
}

const SHOWN_NAMES = 12

/** The first output of `toolpost up`: what is ready, what is not and why, and the address. */
export function overview(now: Overview): string {
  const { file, url, takenPort, localTools, servers, problem, voice, traces } = now
  return [
    `Toolpost, ${file ?? 'built-in example (no toolpost.json here)'}`,
    '',
    line('✔', 'local', `${countOf(localTools)}: ${namesOf(localTools)}`),
    ...servers.map(serverLine),
    ...(problem === undefined ? [] : [line('✘', 'servers', `not started: ${problem}`)]),
    chatLine(now),
    ...voice.map(voiceLine),
    ...(traces === undefined ? [] : [line('✔', 'traces', traces)]),
    ...historyLine(now),
    ...(now.durable ? [durableLine(now.durable)] : []),
    '',
    ...(takenPort === undefined ? [] : [`Port ${takenPort} is in use; using another one.`]),
    `Console  ${now.console}`,
    `MCP      ${url}mcp  (with the token that \`toolpost token\` prints)`,
    '',
    'Press Ctrl-C to stop.',
  ].join('\n')
}

function serverLine({ name, state, tools, error, attempts, nextAttemptAt }: ServerStatus): string {
  if (state === 'ready') return line('✔', name, `ready, ${countOf(tools)}: ${namesOf(tools)}`)
  const next = nextAttemptAt ? `, next attempt at ${nextAttemptAt.slice(11, 19)}` : ''
  if (state === 'needs_login') return line('✘', name, `needs a login: ${error}`)
  if (state === 'failed')
    return line('✘', name, `failed${after(attempts)}: ${error ?? 'no reason given'}${next}`)
  if (state === 'starting' && error === undefined) return line('…', name, 'still starting')
  return line('…', name, `unreachable; retrying: ${error ?? state}${next}`)
}

/** Empty if there was no attempt. */
export function after(attempts: number): string {
  if (attempts === 0) return ''
  return ` after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}

function chatLine({ model }: Overview): string {
  return model
    ? line('✔', 'chat', `${model.name}: ${model.why}`)
    : line('…', 'chat', 'still looking for a model')
}

function historyLine({ history }: Overview): string[] {
  if (!history) return []
  if (history.state === 'failed') return [line('✘', 'history', `calls are not kept: ${history.problem}`)]
  return [line(history.state === 'open' ? '✔' : '…', 'history', history.file)]
}

function durableLine({ state, text }: DurableStatus): string {
  return line({ ready: '✔', starting: '…', lost: '…', failed: '✘' }[state], 'durable', text)
}

function voiceLine({ name, state, text }: VoicePart): string {
  return line({ ready: '✔', starting: '…', missing: '✘' }[state], name, text)
}

/** Control characters in what a server sends are shown, not interpreted. */
function line(mark: string, name: string, text: string): string {
  return escapeControls(`${mark} ${name.padEnd(10)} ${text}`)
}

function countOf(tools: readonly string[]): string {
  return tools.length === 1 ? '1 tool' : `${tools.length} tools`
}

function namesOf(tools: readonly string[]): string {
  const shown = tools.slice(0, SHOWN_NAMES).join(', ')
  return tools.length > SHOWN_NAMES ? `${shown}, …` : shown
}

/** The overview in one short line. */
export function statusText(
  { url, localTools, servers }: Overview,
  figures: { calls: number; inFlight: number },
): string {
  const ready = servers.filter(({ state }) => state === 'ready')
  const tools = localTools.length + ready.reduce((sum, server) => sum + server.tools.length, 0)
  const parts = [
    url,
    `${tools} tools`,
    ...(servers.length > 0 ? [`${ready.length} of ${servers.length} servers`] : []),
    `${figures.calls} calls`,
    ...(figures.inFlight > 0 ? [`${figures.inFlight} in flight`] : []),
  ]
  return parts.join(' · ')
}

/** Cannot be the name of a server. */
const DURABLE = ' durable'

/** Announces when a server, a part of the voice gateway or the database comes or goes. Failures are reported elsewhere. */
export function announceChanges(project: Project, terminal: Terminal): { stop(): void } {
  const { servers, voice, durable } = project.status()
  const known = new Map([...servers, ...voice].map(({ name, state }) => [name, state as string]))
  known.set(DURABLE, durable?.state ?? '')
  const isNews = ({ name, state }: { name: string; state: string }) => {
    const before = known.get(name)
    known.set(name, state)
    return before !== state && !['starting', 'failed', 'needs_login', 'closed'].includes(state)
  }
  const stops = [
    project.on('server', server => isNews(server) && say(terminal, serverLine(server))),
    project.on('voice', parts => {
      for (const part of parts) if (isNews(part)) say(terminal, voiceLine(part))
    }),
    project.on('durable', ({ type }) => {
      const now = type === 'state' ? project.status().durable : undefined
      if (!now || now.state === known.get(DURABLE)) return
      known.set(DURABLE, now.state)
      if (now.state !== 'starting') say(terminal, durableLine(now))
    }),
  ]
  return {
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}
