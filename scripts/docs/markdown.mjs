/** Escapes text for a table cell. */
export function cell(text) {
  return String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')
}
