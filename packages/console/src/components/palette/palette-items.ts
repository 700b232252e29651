import type { ServerStatus, ToolInfo } from 'toolpost/gateway'
import { hrefOf, TITLES, VIEWS } from '../../routing/route.ts'
import { setTheme, THEMES } from '../../state/theme.ts'
import { oneLine } from '../../text/visible-text.ts'
import type { IconName } from '../icon.tsx'

/** A destination or an action. */
export interface PaletteItem {
  key: string
  group: 'Go to' | 'Tools' | 'Servers' | 'Appearance'
  icon: IconName
  title: string
  text?: string | undefined
  run: () => void
}

const THEME_NAMES = { auto: 'System theme', light: 'Light theme', dark: 'Dark theme' }
const THEME_ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const

/** The items that are always available. */
export function fixedItems(): PaletteItem[] {
  const views = VIEWS.map(view => ({
    key: `view ${view}`,
    group: 'Go to' as const,
    icon: view,
    title: TITLES[view],
    run: () => visit(hrefOf({ view })),
  }))
  const themes = THEMES.map(theme => ({
    key: `theme ${theme}`,
    group: 'Appearance' as const,
    icon: THEME_ICONS[theme],
    title: THEME_NAMES[theme],
    run: () => setTheme(theme),
  }))
  return [...views, ...themes]
}

export function toolItem(tool: ToolInfo): PaletteItem {
  return {
    key: `tool ${tool.name}`,
    group: 'Tools',
    icon: 'tools',
    title: oneLine(tool.name, 80),
    text: oneLine(tool.description, 120),
    run: () => visit(hrefOf({ view: 'tools', tool: tool.name })),
  }
}

export function serverItem({ name, state }: ServerStatus): PaletteItem {
  return {
    key: `server ${name}`,
    group: 'Servers',
    icon: 'servers',
    title: oneLine(name, 80),
    text: oneLine(state, 20).replaceAll('_', ' '),
    run: () => visit(hrefOf({ view: 'servers', name })),
  }
}

/** Whether it contains every word. */
export function fits({ group, title }: PaletteItem, query: string): boolean {
  const text = `${group} ${title}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word))
}

function visit(address: string): void {
  location.hash = address
}
