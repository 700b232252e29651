import { isDeepStrictEqual } from 'node:util'
import type { ToolpostConfig } from '../config/config.ts'
import type { Description } from './open-project.ts'

/** What a reload did to the servers, by name. */
export interface ReloadChanges {
  added: string[]
  removed: string[]
  changed: string[]
  unchanged: string[]
}

/** The differences in servers between two descriptions. */
export function changesBetween(before: Description, after: Description): ReloadChanges {
  const [old, now] = [serversOf(before), serversOf(after)]
  const kept = [...now.keys()].filter(name => old.has(name))
  const isSame = (name: string) => isDeepStrictEqual(old.get(name), now.get(name))
  return {
    added: [...now.keys()].filter(name => !old.has(name)),
    removed: [...old.keys()].filter(name => !now.has(name)),
    changed: kept.filter(name => !isSame(name)),
    unchanged: kept.filter(isSame),
  }
}

function serversOf({ config, brokenServers }: Description): Map<string, unknown> {
  const entries = Object.entries(config.mcpServers ?? {})
  return new Map(entries.map(([name, entry]) => [name, [entry, brokenServers[name]]]))
}

/** Keys that are read only at the start. */
const READ_ONCE = ['executor', 'gateway', 'voice', 'log'] as const

/** What to tell a person: new notices, and what changed; with `quietly`, nothing if nothing changed. */
export function newsOf(before: Description, after: Description, quietly: boolean): string[] {
  const news = after.notices?.filter(notice => !before.notices?.includes(notice)) ?? []
  const isSame =
    isDeepStrictEqual(before.config, after.config) &&
    isDeepStrictEqual(before.brokenServers, after.brokenServers)
  return quietly && isSame ? news : [...news, changesText(before, after)]
}

/** In one line, naming what takes effect only after a restart. */
function changesText(before: Description, after: Description): string {
  const { added, removed, changed } = changesBetween(before, after)
  const late = READ_ONCE.filter(key => differs(before.config, after.config, [key]))
  const parts = [
    ...listed('added', added),
    ...listed('restarted', changed),
    ...listed('removed', removed),
    ...(late.length > 0 ? [`restart Toolpost to apply ${late.join(', ')}`] : []),
  ]
  return `Configuration reloaded${parts.length > 0 ? `: ${parts.join('; ')}` : ''}`
}

function listed(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what} ${names.join(', ')}`]
}

export function differs(
  before: ToolpostConfig,
  after: ToolpostConfig,
  keys: readonly (keyof ToolpostConfig)[],
): boolean {
  return keys.some(key => !isDeepStrictEqual(before[key], after[key]))
}
