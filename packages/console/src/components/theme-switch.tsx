import { useStore } from '../state/store.ts'
import { setTheme, THEMES, theme } from '../state/theme.ts'
import { IconButton } from './button.tsx'

const ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const
const NAMES = { auto: 'system', light: 'light', dark: 'dark' }

export function ThemeSwitch() {
  const current = useStore(theme, value => value)
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'auto'
  const label = `Theme: ${NAMES[current]}. Switch to ${NAMES[next]}.`
  return <IconButton icon={ICONS[current]} label={label} onClick={() => setTheme(next)} />
}
