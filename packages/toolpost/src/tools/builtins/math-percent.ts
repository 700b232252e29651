/** A number before `% of`, where no operator before it binds as tightly as the `*` that it becomes. */
const percentOf =
  /(?<=(?:^|[-+=,;:?([\n]|\bof)\s{0,9})(\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})\s{0,9}%\s{0,9}of\s{1,9}(?=[\w(.])/g

/**
 * Writes `12 % of 85`, which mathjs does not know, as `12 / 100 * 85`. Anything less certain stays as it is
 * (`2 * 12% of 85`, text in quotes), and mathjs then names the `of` that it does not understand.
 */
export function rewritePercentages(expression: string): string {
  if (/["']/.test(expression)) return expression
  return expression.replace(percentOf, '$1 / 100 * ')
}
