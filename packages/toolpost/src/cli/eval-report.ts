import { callList, type ModelReport, type Outcome, totals } from './eval-score.ts'

/** The results as one HTML page that needs nothing else. */
export function reportPage(reports: readonly ModelReport[], at: Date): string {
  const ranked = [...reports].sort((a, b) => totals(b).score - totals(a).score)
  const asked = ranked.filter(({ outcomes }) => outcomes.length > 0)
  const names = [...new Set(reports.flatMap(({ outcomes }) => outcomes.map(({ name }) => name)))]
  const models = reports.length === 1 ? 'model' : 'models'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Toolpost eval: ${names.length} cases, ${reports.length} ${models}</title>
<style>${STYLE}</style>
<main>
<header>
  <p class="brand">Toolpost eval</p>
  <h1>${names.length} cases, ${reports.length} ${models}</h1>
  <p class="muted">${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</p>
</header>
<section class="cards">${ranked.map(card).join('')}</section>
<h2>Case by case</h2>
<div class="scroll"><table>
<thead><tr><th>Case</th>${asked.map(({ model }) => `<th>${escaped(model)}</th>`).join('')}</tr></thead>
<tbody>${names.map(name => caseRow(name, asked)).join('')}</tbody>
</table></div>
</main>
</html>
`
}

function card(report: ModelReport): string {
  const all = totals(report)
  const percent = (share: number) => `${Math.round(100 * share)} %`
  const figures: [string, string | number][] = [
    ['Right tool', percent(all.rightTool)],
    ['Right arguments', percent(all.rightArguments)],
    ['Needless calls', all.needless],
    ['Repairs', all.repairs],
    ['Forbidden writes', all.forbidden],
    ['Seconds per case', all.seconds.toFixed(2)],
    ['Tokens', all.tokens.toLocaleString('en')],
  ]
  const list = figures.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')
  const problem = report.problem === undefined ? '' : `<p class="problem">${escaped(report.problem)}</p>`
  if (all.count === 0) return `<article><h3>${escaped(report.model)}</h3>${problem}</article>`
  return `<article>
  <h3>${escaped(report.model)}</h3>
  <p class="score">${percent(all.score)}<small> ${all.passed} of ${all.count} right</small></p>
  <div class="bar"><i style="width:${100 * all.score}%"></i></div>
  ${problem}<dl>${list}</dl>
</article>`
}

function caseRow(name: string, reports: readonly ModelReport[]): string {
  const runs = reports.map(({ outcomes }) => outcomes.filter(outcome => outcome.name === name))
  const ask = runs.flat()[0]?.ask ?? name
  const title = ask === name ? '' : `<span class="muted">${escaped(ask)}</span>`
  return `<tr><th scope="row">${escaped(name)}${title}</th>${runs.map(caseCell).join('')}</tr>`
}

function caseCell(runs: readonly Outcome[]): string {
  const [first] = runs
  if (!first) return '<td class="muted">not asked</td>'
  const passed = runs.filter(run => run.passed).length
  const mark = passed === runs.length ? 'good' : passed === 0 ? 'bad' : 'mixed'
  const count = runs.length === 1 ? '' : ` ${passed} of ${runs.length}`
  const shown = runs.find(run => !run.passed) ?? first
  const calls = shown.calls.map(
    call => `<code>${escaped(callList([call]))}${call.error ? ` → ${escaped(call.error)}` : ''}</code>`,
  )
  const why = shown.why.map(reason => `<p class="problem">${escaped(reason)}</p>`)
  const answer = shown.text === '' ? '' : `<p class="muted">“${escaped(shown.text)}”</p>`
  const details = [...why, ...calls, answer].join('')
  return `<td><details${mark === 'good' ? '' : ' open'}>
<summary class="${mark}">${{ good: 'right', bad: 'wrong', mixed: 'partly' }[mark]}${count}</summary>${details}</details></td>`
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
:root { color-scheme: light dark; --back: #f7f7f5; --card: #fff; --text: #1c1d1f; --muted: #6b6e75; --line: #e4e4e0;
  --good: #14804a; --bad: #c2352b; --mixed: #a86a00 }
@media (prefers-color-scheme: dark) { :root { --back: #121315; --card: #1b1d20; --text: #ececea; --muted: #9a9da5;
  --line: #2d3035; --good: #4cc38a; --bad: #ff7b70; --mixed: #e5a93d } }
* { box-sizing: border-box; margin: 0 }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1100px; margin: 0 auto; padding: 48px 24px 80px }
header { margin-bottom: 32px }
h1 { font-size: 30px; letter-spacing: -.02em; line-height: 1.2 }
h2 { font-size: 18px; margin: 40px 0 12px }
h3 { font-size: 15px; font-weight: 600; overflow-wrap: anywhere }
.brand { color: var(--muted); font-size: 13px; font-weight: 600; letter-spacing: .04em; text-transform: uppercase }
.muted { color: var(--muted) }
.problem { color: var(--bad); overflow-wrap: anywhere }
.cards { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)) }
article { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px }
.score { font-size: 36px; font-weight: 650; letter-spacing: -.03em; font-variant-numeric: tabular-nums }
.score small { color: var(--muted); font-size: 14px; font-weight: 400; letter-spacing: 0 }
.bar { background: var(--line); border-radius: 3px; height: 6px; margin: 6px 0 16px; overflow: hidden }
.bar i { background: var(--good); display: block; height: 100% }
dl div { display: flex; justify-content: space-between; padding: 3px 0; font-size: 14px }
dt { color: var(--muted) }
dd { font-variant-numeric: tabular-nums }
.scroll { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 14px }
th, td { border-top: 1px solid var(--line); padding: 10px 16px; text-align: left; vertical-align: top; min-width: 180px }
thead th { border: 0; color: var(--muted); font-size: 13px; font-weight: 500 }
tbody th { font-weight: 500 }
th .muted { display: block; font-weight: 400 }
summary { cursor: pointer; font-weight: 600; list-style: none }
summary::before { content: '●'; font-size: 10px; margin-right: 7px; vertical-align: 1px }
.good { color: var(--good) } .bad { color: var(--bad) } .mixed { color: var(--mixed) }
code { display: block; font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; margin-top: 4px }
details p { font-size: 13px; margin-top: 4px }
`
