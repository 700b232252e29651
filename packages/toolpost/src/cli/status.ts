import { escapeControls } from '../logging/safe-value.ts'
import type { ServerStatus } from '../mcp/index.ts'
import type { Project } from '../project/project.ts'
import { counted } from './terminal.ts'

/** One part of a project: `off` is missing, but not configured either. */
export type Finding = readonly [state: string, name: string, text: string, ...advice: string[]]

const SHOWN_NAMES = 12
const MARKS = { ready: '✔', open: '✔', failed: '✘', missing: '✘', needs_login: '✘', off: '○' }

export const isWrong = ([state]: Finding): boolean => markOf(state) === '✘'
const markOf = (state: string): string => (MARKS as Record<string, string>)[state] ?? '…'

/** Control characters in what a server sends are shown, not interpreted. */
export function lineOf([state, name, text, ...advice]: Finding): string {
  const lines = [`${markOf(state)} ${name.padEnd(10)} ${text}`, ...advice.map(each => `    ${each}`)]
  return lines.map(escapeControls).join('\n')
}

/** The state of everything running: what is ready, what is not and why. */
export function findingsOn(project: Project, traces?: string): Finding[] {
  const { servers, problem, model, voice, history, durable } = project.status()
  const local = project.tools.getTools().filter(tool => !project.tools.originOf(tool))
  const kept = history?.state === 'failed' ? `calls are not kept: ${history.problem}` : (history?.file ?? '')
  const found: (Finding | false | undefined)[] = [
    ['ready', 'local', toolsText(local.map(({ name }) => name))],
    ...servers.map(serverFinding),
    problem !== undefined && ['failed', 'servers', `not started: ${problem}`],
    model ? ['ready', 'chat', `${model.name}: ${model.why}`] : ['', 'chat', 'still looking for a model'],
    ...voice.map(({ name, state, text }): Finding => [state, name, text]),
    traces !== undefined && ['ready', 'traces', traces],
    history && [history.state, 'history', kept],
    durable && [durable.state, 'durable', durable.text],
  ]
  return found.filter(each => each !== undefined && each !== false)
}

function serverFinding({ name, state, tools, error, attempts, nextAttemptAt }: ServerStatus): Finding {
  const next = nextAttemptAt ? `, next attempt at ${nextAttemptAt.slice(11, 19)}` : ''
  const tried = attempts === 0 ? '' : ` after ${counted(attempts, 'attempt')}`
  const why = error ?? 'no reason given'
  if (state === 'ready') return [state, name, `ready, ${toolsText(tools)}`]
  if (state === 'needs_login') return [state, name, `needs a login: ${why}`]
  if (state === 'failed') return [state, name, `failed${tried}: ${why}${next}`]
  if (state === 'starting' && error === undefined) return [state, name, 'still starting']
  return [state, name, `unreachable; retrying: ${why}${next}`]
}

function toolsText(names: readonly string[]): string {
  const shown = [...names.slice(0, SHOWN_NAMES), ...(names.length > SHOWN_NAMES ? ['…'] : [])]
  return `${counted(names.length, 'tool')}: ${shown.join(', ')}`
}
