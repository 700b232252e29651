// The results of the test suite on several versions of Node as one table: a row per package, a column per version.
import { relative, sep } from 'node:path'

/** Vitest's JSON report by package, `{ [part]: { passed, skipped, failed, files } }`, and the failures. */
export function summarise(report, root) {
  const parts = {}
  const failures = []
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name).split(sep).join('/')
    parts[partOf(file)] ??= { passed: 0, skipped: 0, failed: 0, files: 0 }
    const part = parts[partOf(file)]
    part.files += 1
    for (const { status: outcome } of assertionResults) part[columnOf(outcome)] += 1
    const failed = assertionResults.filter(test => columnOf(test.status) === 'failed')
    failures.push(...failed.map(test => `${file}: ${test.fullName}`))
    // A file that could not be loaded has no failed tests.
    if (status === 'failed' && failed.length === 0) {
      part.failed += 1
      failures.push(`${file}: ${message.split('\n')[0] || 'could not be run'}`)
    }
  }
  return { parts, failures }
}

function partOf(file) {
  const [first, second] = file.split('/')
  return first === 'packages' ? second : first
}

function columnOf(status) {
  return status === 'passed' || status === 'failed' ? status : 'skipped'
}

/** `outcomes`: `[{ version, seconds, parts }]`, one per version of Node. */
export function table(outcomes) {
  const parts = [...new Set(outcomes.flatMap(({ parts }) => Object.keys(parts)))].sort()
  const rows = [
    ['', ...outcomes.map(({ version }) => `Node ${version}`)],
    ...parts.map(part => [part, ...outcomes.map(outcome => cell(outcome.parts[part]))]),
    ['all', ...outcomes.map(outcome => cell(sum(outcome.parts)))],
    ['seconds', ...outcomes.map(({ seconds }) => seconds.toFixed(0))],
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map(row => row[column].length), 3))
  const line = row => `| ${row.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`
  const rule = `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`
  return [line(rows[0]), rule, ...rows.slice(1).map(line)].join('\n')
}

function cell(part) {
  if (!part) return '–'
  const { passed, skipped, failed } = part
  const more = [...(failed ? [`${failed} failed`] : []), ...(skipped ? [`${skipped} skipped`] : [])]
  return [`${failed ? '✘' : '✔'} ${passed}`, ...more].join(', ')
}

function sum(parts) {
  const total = { passed: 0, skipped: 0, failed: 0 }
  for (const part of Object.values(parts)) for (const key of Object.keys(total)) total[key] += part[key]
  return total
}
