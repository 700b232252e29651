import { Store } from './store.ts'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'toolpost.theme'

export const theme = new Store<Theme>(storedTheme())

export function setTheme(next: Theme): void {
  localStorage.setItem(KEY, next)
  theme.set(next)
  applyTheme()
}

/** `auto` follows the system, which the style sheet does by itself. */
export function applyTheme(): void {
  const chosen = theme.get()
  if (chosen === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}

function storedTheme(): Theme {
  const stored = typeof localStorage === 'undefined' ? null : localStorage.getItem(KEY)
  return THEMES.find(one => one === stored) ?? 'auto'
}
