/** A number before `% of`, unless an operator before it binds as tightly as the `*` it becomes. */
const percentOf =
  /(?<=(?:^|[-+=,;:?([\n]|\bof)\s{0,9})(\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})\s{0,9}%\s{0,9}of\s{1,9}(?=[\w(.])/g

/**
 * Rewrites `12 % of 85`, which mathjs does not know, as `12 / 100 * 85`. Anything less certain is left alone
 * (`2 * 12% of 85`, quoted text), and mathjs then reports the `of` that it does not understand.
 */
export function rewritePercentages(expression: string): string {
  if (/["']/.test(expression)) return expression
  return expression.replace(percentOf, '$1 / 100 * ')
}
