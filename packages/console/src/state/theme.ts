import { Store, stored } from './store.ts'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'toolpost.theme'

export const theme = new Store<Theme>(THEMES.find(one => one === stored(KEY)) ?? 'auto')

export function setTheme(next: Theme): void {
  localStorage.setItem(KEY, next)
  theme.set(next)
  applyTheme()
}

/** `auto` follows the system, through the style sheet alone. */
export function applyTheme(): void {
  const chosen = theme.get()
  if (chosen === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}
