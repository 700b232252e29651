import type { ChatCall, ToolInfo } from 'toolpost/gateway'
import { isRecord } from '../../api/guards.ts'
import { oneLine } from '../../text/visible-text.ts'

const MAX_VALUES = 4

/** What a call does, for people: `Control a Z-Wave device: Kitchen light, on`. */
export function callWords({ name, args }: ChatCall, tool: ToolInfo | undefined): string {
  const what = oneLine(tool?.title ?? spoken(name), 60)
  const values = isRecord(args) ? Object.entries(args).map(([key, value]) => valueWords(key, value)) : []
  const shown = values.slice(0, MAX_VALUES)
  const rest = values.length - shown.length
  const all = rest > 0 ? [...shown, `${rest} more`] : shown
  return all.length === 0 ? what : `${what}: ${all.join(', ')}`
}

/** `control_zwave_device` and `controlZwaveDevice` become `Control zwave device`. */
function spoken(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Strings speak for themselves; other values need their name. */
function valueWords(key: string, value: unknown): string {
  if (typeof value === 'string') return oneLine(value, 40)
  const label = spoken(key).toLowerCase()
  if (typeof value === 'boolean') return value ? label : `no ${label}`
  if (typeof value === 'number') return `${label} ${value}`
  if (Array.isArray(value)) return `${label} (${value.length})`
  return label
}
