import type { CallFilter } from '../state/call-list.ts'

export type Route =
  /** `from` is the serial of a recorded call whose arguments are reused. */
  | { view: 'tools'; tool?: string | undefined; from?: number | undefined }
  | { view: 'calls'; serial?: number | undefined; filter: CallFilter }
  | { view: 'approvals' }
  | { view: 'servers' }
  | { view: 'chat' }

export const VIEWS = ['tools', 'calls', 'approvals', 'servers', 'chat'] as const
export const TITLES = {
  tools: 'Tools',
  calls: 'Calls',
  approvals: 'Approvals',
  servers: 'Servers',
  chat: 'Chat',
}

/** The view that an address names; the tools if it names none. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, ...rest] = path.split('/').map(decoded)
  const parameters = new URLSearchParams(query)
  if (view === 'approvals' || view === 'servers' || view === 'chat') return { view }
  if (view === 'calls') return { view, serial: wholeNumber(rest[0]), filter: filterFrom(parameters) }
  return { view: 'tools', tool: rest[0] || undefined, from: wholeNumber(parameters.get('call') ?? undefined) }
}

export function hrefOf(route: Route): string {
  if (route.view === 'tools') {
    const query = route.from === undefined ? '' : `?call=${route.from}`
    return `#/tools${route.tool === undefined ? '' : `/${encodeURIComponent(route.tool.toWellFormed())}`}${query}`
  }
  if (route.view !== 'calls') return `#/${route.view}`
  const given = Object.entries(route.filter).filter(([, value]) => value !== undefined) as [string, string][]
  const query = new URLSearchParams(given).toString()
  return `#/calls${route.serial === undefined ? '' : `/${route.serial}`}${query && `?${query}`}`
}

function filterFrom(parameters: URLSearchParams): CallFilter {
  const one = (name: string) => parameters.get(name) ?? undefined
  return { tool: one('tool'), source: one('source'), outcome: one('outcome') }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
