import type { CallFilter } from '../state/call-list.ts'

export type Route =
  | { view: 'home' }
  /** `from` is the serial of a recorded call whose arguments are reused. */
  | { view: 'tools'; tool?: string | undefined; from?: string | undefined }
  | { view: 'calls'; serial?: string | undefined; filter?: CallFilter | undefined }
  | { view: 'approvals' }
  /** `adding` opens the form for a new server. */
  | { view: 'servers'; name?: string | undefined; adding?: boolean | undefined }
  | { view: 'chat'; conversation?: string | undefined }
  | { view: 'runs'; id?: string | undefined; filter?: RunFilter | undefined }

export const VIEWS = ['home', 'tools', 'chat', 'calls', 'approvals', 'runs', 'servers'] as const
export const TITLES = {
  home: 'Home',
  tools: 'Tools',
  calls: 'Calls',
  approvals: 'Approvals',
  servers: 'Servers',
  chat: 'Chat',
  runs: 'Runs',
}

/** The view that an address names; the home view if it names none. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, ...rest] = path.split('/').map(decoded)
  const parameters = new URLSearchParams(query)
  if (view === 'approvals') return { view }
  if (view === 'servers')
    return { view, name: rest[0] || undefined, adding: parameters.has('add') || undefined }
  if (view === 'chat') return { view, conversation: rest.join('/') || undefined }
  if (view === 'runs') return { view, id: rest[0] || undefined, filter: runFilterFrom(parameters) }
  if (view === 'calls') return { view, serial: rest[0] || undefined, filter: filterFrom(parameters) }
  if (view === 'tools') return { view, tool: rest[0] || undefined, from: parameters.get('call') ?? undefined }
  return { view: 'home' }
}

export function hrefOf(route: Route): string {
  if (route.view === 'home') return '#/'
  if (route.view === 'tools') {
    const query = route.from === undefined ? '' : `?call=${encodeURIComponent(route.from)}`
    return `#/tools${partOf(route.tool)}${query}`
  }
  if (route.view === 'chat') return `#/chat${partOf(route.conversation)}`
  if (route.view === 'servers') return `#/servers${partOf(route.name)}${route.adding ? '?add' : ''}`
  if (route.view === 'runs') return `#/runs${partOf(route.id)}${queryOf(route.filter)}`
  if (route.view !== 'calls') return `#/${route.view}`
  return `#/calls${partOf(route.serial)}${queryOf(route.filter)}`
}

function partOf(part: string | undefined): string {
  return part === undefined ? '' : `/${encodeURIComponent(part.toWellFormed())}`
}

function queryOf(filter: object = {}): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][]
  const query = new URLSearchParams(given).toString()
  return query && `?${query}`
}

/** Which runs are shown. */
export interface RunFilter {
  state?: string | undefined
  tool?: string | undefined
}

function runFilterFrom(parameters: URLSearchParams): RunFilter {
  return { state: parameters.get('state') ?? undefined, tool: parameters.get('tool') ?? undefined }
}

function filterFrom(parameters: URLSearchParams): CallFilter {
  const one = (name: string) => parameters.get(name) ?? undefined
  return {
    tool: one('tool'),
    source: one('source'),
    outcome: one('outcome'),
    caller: one('caller'),
    origin: one('origin'),
    q: one('q'),
    since: one('since'),
    until: one('until'),
    trace: one('trace'),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
