import { callList, type ModelReport, type Outcome, totals } from './eval-score.ts'

const percent = (share: number) => `${Math.round(100 * share)} %`

/** What the table and the page show of a model, without its score. */
export function figuresOf(report: ModelReport): [name: string, value: string][] {
  const all = totals(report)
  const share = (value: number) => (all.count === 0 ? '–' : percent(value))
  return [
    ['Right tool', share(all.rightTool)],
    ['Right args', share(all.rightArguments)],
    ['Needless', String(all.needless)],
    ['Repairs', String(all.repairs)],
    ['Forbidden', String(all.forbidden)],
    ['Seconds', all.seconds.toFixed(2)],
    ['Tokens', String(all.tokens)],
  ]
}

/** The results as one HTML page that needs nothing else. */
export function reportPage(reports: readonly ModelReport[], at: Date): string {
  const ranked = [...reports].sort((a, b) => totals(b).score - totals(a).score)
  const asked = ranked.filter(({ outcomes }) => outcomes.length > 0)
  const names = [...new Set(reports.flatMap(({ outcomes }) => outcomes.map(({ name }) => name)))]
  const title = `${names.length} cases, ${reports.length} ${reports.length === 1 ? 'model' : 'models'}`
  const rows = names.map(name => {
    const runs = asked.map(({ outcomes }) => outcomes.filter(outcome => outcome.name === name))
    const ask = runs.flat()[0]?.ask ?? name
    const asks = ask === name ? '' : `<span class="muted">${escaped(ask)}</span>`
    return `<tr><th>${escaped(name)}${asks}</th>${runs.map(cell).join('')}</tr>`
  })
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Toolpost eval: ${title}</title><style>${STYLE}</style>
<main><p class="muted">Toolpost eval, ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</p><h1>${title}</h1>
<section>${ranked.map(card).join('')}</section><h2>Case by case</h2>
<div><table><thead><tr><th>Case</th>${asked.map(({ model }) => `<th>${escaped(model)}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div></main></html>
`
}

function card(report: ModelReport): string {
  const { count, score, passed } = totals(report)
  const list = figuresOf(report).map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`)
  const problem = report.problem === undefined ? '' : `<p class="bad">${escaped(report.problem)}</p>`
  const scored = `<b>${percent(score)}</b> <span class="muted">${passed} of ${count} right</span>
<meter value="${score}"></meter>${problem}<dl>${list.join('')}</dl>`
  return `<article><h3>${escaped(report.model)}</h3>${count === 0 ? problem : scored}</article>`
}

function cell(runs: readonly Outcome[]): string {
  const [first] = runs
  if (!first) return '<td class="muted">not asked</td>'
  const passed = runs.filter(run => run.passed).length
  const [mark, word] =
    passed === runs.length ? ['good', 'right'] : passed === 0 ? ['bad', 'wrong'] : ['mixed', 'partly']
  const count = runs.length === 1 ? '' : ` ${passed} of ${runs.length}`
  const { why, calls, text } = runs.find(run => !run.passed) ?? first
  const details = [
    ...why.map(reason => `<p class="bad">${escaped(reason)}</p>`),
    ...calls.map(
      call => `<code>${escaped(callList([call]))}${call.error ? ` → ${escaped(call.error)}` : ''}</code>`,
    ),
    text === '' ? '' : `<p class="muted">“${escaped(text)}”</p>`,
  ]
  const summary = `<summary class="${mark}">● ${word}${count}</summary>`
  return `<td><details${mark === 'good' ? '' : ' open'}>${summary}${details.join('')}</details></td>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')
}

const STYLE = `
:root { color-scheme: light dark; --card: light-dark(#fff, #1b1d20); --line: light-dark(#e4e4e0, #2d3035);
  --good: light-dark(#14804a, #4cc38a); --bad: light-dark(#c2352b, #ff7b70); --mixed: light-dark(#a86a00, #e5a93d) }
* { box-sizing: border-box; margin: 0 }
body { background: light-dark(#f7f7f5, #121315); color: light-dark(#1c1d1f, #ececea); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1100px; margin: 0 auto; padding: 48px 24px 80px }
h1 { font-size: 30px; margin-bottom: 32px } h2 { font-size: 18px; margin: 40px 0 12px }
section { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)) }
article, div { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-x: auto }
article { padding: 20px } article b { font-size: 36px } meter { width: 100%; margin: 6px 0 16px }
dl { display: grid; grid-template-columns: 1fr auto; gap: 4px; font-size: 14px }
dt, .muted, thead th { color: light-dark(#6b6e75, #9a9da5); font-weight: 400 } th .muted { display: block }
table { border-collapse: collapse; width: 100%; font-size: 14px } thead th { border: 0 }
th, td { border-top: 1px solid var(--line); padding: 10px 16px; text-align: left; vertical-align: top; min-width: 180px }
summary { cursor: pointer; font-weight: 600; list-style: none }
.good { color: var(--good) } .bad { color: var(--bad) } .mixed { color: var(--mixed) }
code { display: block; font: 12px/1.5 ui-monospace, monospace; margin-top: 4px } code, p { overflow-wrap: anywhere }
`
