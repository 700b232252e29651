// docs/faults.md: its rows stay, and the last column says which proof cases and tests name them.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../packing/packages.mjs'

const ROW = /^\| (F\d\d) \| (.*) \| (.*) \| .* \|$/gm

export function faultsPage() {
  const cases = JSON.parse(readFileSync(join(root, 'packages/proof/cases.json'), 'utf8'))
  const tests = testFiles().map(file => ({ file, ids: idsIn(readFileSync(join(root, file), 'utf8')) }))
  const whereIs = id => {
    const proofs = cases.filter(({ covers = [] }) => covers.includes(id)).map(one => `\`${one.id}\``)
    const files = tests.filter(({ ids }) => ids.has(id)).map(({ file }) => `[${basename(file)}](../${file})`)
    return [...proofs, ...files].join(', ') || 'planned'
  }
  const page = readFileSync(join(root, 'docs/faults.md'), 'utf8')
  return page.replace(ROW, (_, id, fault, outcome) => `| ${id} | ${fault} | ${outcome} | ${whereIs(id)} |`)
}

function testFiles() {
  const isTest = name => name.endsWith('.test.ts') && !/(^|\/)(node_modules|dist)\//.test(name)
  const all = ['packages', 'tests'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true }).map(name => `${folder}/${name}`),
  )
  return all.filter(isTest).sort()
}

/** From titles such as `[F45 F46] is stopped`. */
function idsIn(text) {
  return new Set([...text.matchAll(/\[([A-Z]\d\d(?: [A-Z]\d\d)*)\]/g)].flatMap(([, ids]) => ids.split(' ')))
}
