import { create } from 'zustand'
import { persist } from 'zustand/middleware'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const useTheme = create<{ theme: Theme }>()(
  persist(() => ({ theme: 'system' as Theme }), { name: 'toolpost.theme' }),
)

/** Keeps `data-theme` of the page up to date with the choice. */
export function followTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = useTheme.getState().theme
  }
  useTheme.subscribe(apply)
  apply()
}
