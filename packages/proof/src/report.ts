import { fileURLToPath } from 'node:url'
import { CASES } from './cases.ts'
import type { DriverReport, Verdict } from './run.ts'

/** Paths in messages begin at the package. */
const FOLDER = fileURLToPath(new URL('..', import.meta.url))
const familyOf = ({ id }: { id: string }) => id.slice(0, id.indexOf('/'))

export function score(verdicts: readonly Verdict[]): { passed: number; supported: number } {
  const count = (state: Verdict['state']) => verdicts.filter(verdict => verdict.state === state).length
  return { passed: count('passed'), supported: verdicts.length - count('unsupported') }
}

/** Whether a driver did well enough: by its share of passed cases, and without any wrong repair. */
export function isGoodEnough({ verdicts }: DriverReport, min: number): boolean {
  const { passed, supported } = score(verdicts)
  const hasFailed = (id: string) => verdicts.some(verdict => verdict.id === id && verdict.state === 'failed')
  return passed / supported >= min && !CASES.some(({ id, isFatal }) => isFatal && hasFailed(id))
}

/** Families by drivers, `passed/supported`, also to be read on a terminal; then what was seen in every failed case. */
export function markdown(reports: readonly DriverReport[], date: string): string {
  const cells = (isIn: (verdict: Verdict) => boolean) =>
    reports.map(({ verdicts }) => {
      const { passed, supported } = score(verdicts.filter(isIn))
      return supported === 0 ? '–' : `${passed}/${supported}`
    })
  const families = [...new Set(CASES.map(familyOf))]
  const names = reports.map(({ driver }) => driver)
  const table = [
    ['', ...names],
    ['', ...names].map(() => '---'),
    ...families.map(family => [family, ...cells(verdict => familyOf(verdict) === family)]),
    ['all', ...cells(() => true)],
  ]
  const widths = ['cancellation', ...names].map(({ length }) => Math.max(length, 5))
  const lines = table.map(row => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`)
  return `# Results

Written by \`toolpost-proof\` on ${date}, not edited. Each cell: cases passed / cases supported, of ${CASES.length}.
A dash: nothing of that family is supported. [README.md](README.md) explains the families.

${lines.join('\n')}
${reports.map(section).join('')}`
}

function section({ driver, versions, verdicts }: DriverReport): string {
  const titles = new Map(CASES.map(({ id, title }) => [id, title]))
  const failed = verdicts.filter(({ state }) => state === 'failed' || state === 'error')
  const missing = verdicts.filter(({ state }) => state === 'unsupported')
  const paragraphs = [
    `\n## ${driver}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(' · '),
    failed
      .map(({ id, state, seen = '' }) => `- **${id}** (${titles.get(id)}): ${state}. Seen: ${asCode(seen)}`)
      .join('\n'),
    missing.length > 0 && `Not supported: ${missing.map(({ id, seen }) => `${id} (${seen})`).join(', ')}.`,
  ]
  return `${paragraphs.filter(Boolean).join('\n\n')}\n`
}

function asCode(text: string): string {
  const line = text.replaceAll(FOLDER, '').replace(/[\r\n]+/g, ' ')
  return `\`${line.replaceAll('`', "'")}\``
}
