/** Enough for an answer; parsing takes 40 ms at worst. */
export const FIRST_MARKDOWN = 20_000
export const MAX_MARKDOWN = 100_000

/** Whether there is anything to render: plain sentences need no parser. */
export function hasMarks(text: string): boolean {
  return /[*_`#>[\]|~\\&]|https?:|www\.|\n\s*\n|(?:^|\n) {0,3}(?:[-+]|\d+[.)]) |\n {0,3}[=-]/.test(text)
}

const SAMPLE = 20_000
const SIGNS = [
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S/m,
  /^\|.*\|\s*$/m,
  /\*\*\S/,
  /\]\(https?:/,
]

/** Whether a tool's text was meant as Markdown: a single sign is chance, unless it is a heading or a fence. */
export function looksLikeMarkdown(text: string): boolean {
  const sample = text.slice(0, SAMPLE)
  const found = SIGNS.map(sign => sign.test(sample))
  return found[0] === true || found[1] === true || found.filter(Boolean).length >= 2
}
