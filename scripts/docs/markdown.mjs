import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** Text in a cell of a table. */
export function cell(text) {
  return String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')
}
