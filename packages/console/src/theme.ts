import { create } from 'zustand'
import { persist } from 'zustand/middleware'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const useTheme = create<{ theme: Theme }>()(
  persist(() => ({ theme: 'system' as Theme }), { name: 'toolpost.theme' }),
)

/** Keeps `data-theme` of the page up to date with the choice and, if there is none, with the system. */
export function followTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const { theme } = useTheme.getState()
    const isDark = theme === 'system' ? system.matches : theme === 'dark'
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  }
  system.addEventListener('change', apply)
  useTheme.subscribe(apply)
  apply()
}
