import { isDeepStrictEqual } from 'node:util'
import type { ToolpostConfig } from './config.ts'
import type { ResolvedConfig } from './resolve.ts'

/** What a reload did to the servers, by name. */
export interface ReloadChanges {
  added: string[]
  removed: string[]
  changed: string[]
  unchanged: string[]
}

/** The differences in servers between two configurations. */
export function changesBetween(before: ResolvedConfig, after: ResolvedConfig): ReloadChanges {
  const serversOf = ({ config, brokenServers }: ResolvedConfig) =>
    new Map(
      Object.entries(config.mcpServers ?? {}).map(([name, entry]) => [name, [entry, brokenServers[name]]]),
    )
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

/** Keys that are read only at the start. */
const READ_ONCE = ['executor', 'gateway', 'voice', 'log'] as const

/** In one line, naming what takes effect only after a restart. */
export function changesText(changes: ReloadChanges, before: ResolvedConfig, after: ResolvedConfig): string {
  const { added, removed, changed } = changes
  const late = READ_ONCE.filter(key => differs(before.config, after.config, [key]))
  const lists = { added, restarted: changed, removed, 'restart Toolpost to apply': late }
  const parts = Object.entries(lists).filter(([, names]) => names.length > 0)
  const shown = parts.map(([what, names]) => `${what} ${names.join(', ')}`)
  return `Configuration reloaded${shown.length > 0 ? `: ${shown.join('; ')}` : ''}`
}

export function differs(
  before: ToolpostConfig,
  after: ToolpostConfig,
  keys: readonly (keyof ToolpostConfig)[],
): boolean {
  return keys.some(key => !isDeepStrictEqual(before[key], after[key]))
}
