/** Prints rows as a Markdown table, with numbers right-aligned. */
export function printTable(columns, rows) {
  const texts = rows.map(row => row.map(String))
  const widths = columns.map((column, at) => Math.max(column.length, ...texts.map(row => row[at].length)))
  const line = (cells, pad) => `| ${cells.map((cell, at) => pad(cell, at)).join(' | ')} |`
  const align = (cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))
  console.log(line(columns, align))
  console.log(
    line(columns, (_, at) => (at === 0 ? '-'.repeat(widths[at]) : `${'-'.repeat(widths[at] - 1)}:`)),
  )
  for (const row of texts) console.log(line(row, align))
  console.log()
}

/** Prints each goal with its measurement. A missed goal is not an error: a benchmark is not a test. */
export function printGoals(goals) {
  printTable(
    ['goal', 'measured', ''],
    goals.map(({ goal, measured, reached }) => [goal, measured, reached ? 'reached' : 'NOT reached']),
  )
}

export const fixed = (number, digits = 2) => number.toFixed(digits)
export const whole = number => Math.round(number).toLocaleString('en')
export const times = ({ median, low, high }) => `${fixed(median)} (${fixed(low)}–${fixed(high)})`
