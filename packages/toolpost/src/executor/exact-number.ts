import { trimmedEnd } from '../runtime/trimmed-end.ts'

const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** No number has more significant characters than this. */
const MAX_CHARS = 1_000

/** The number in a text, if a double can represent it exactly; otherwise `undefined`. */
export function exactNumber(text: string): number | undefined {
  const written = canonical(text)
  if (written === undefined) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined
  return canonical(String(value)) === written ? value : undefined
}

/** Sign, digits and exponent without padding, so that `1.50`, `15e-1` and `1.5` are the same. */
function canonical(text: string): string | undefined {
  const trimmed = text.trim()
  const parts = trimmed.length > MAX_CHARS ? undefined : NUMBER.exec(trimmed)
  if (!parts) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = trimmedEnd(digits, '0')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${power}`
}
