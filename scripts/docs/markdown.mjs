import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** Escapes text for a table cell. */
export function cell(text) {
  return String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')
}
