// `npm run test:nodes`: runs the test suite on every supported version of Node, each installed from npm, and prints a table.
//   npm run test:nodes -- --nodes 22,24 tests packages/toolpost/src/executor
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { runNpm } from '../npm.mjs'
import { root } from '../packing/packages.mjs'
import { summarise, table } from './table.mjs'

const { values, positionals } = parseArgs({ options: { nodes: { type: 'string' } }, allowPositionals: true })
const majors = (values.nodes ?? '20,22,24,26').split(',')

const outcomes = majors.map(suiteOn)
for (const { version, failures } of outcomes)
  for (const failure of failures) process.stdout.write(`✘ Node ${version}: ${failure}\n`)
process.stdout.write(`\n${table(outcomes)}\n`)
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1

function suiteOn(major) {
  const node = installed(major)
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  process.stdout.write(`\nNode ${version}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-nodes-'))
  const file = join(folder, 'report.json')
  const began = performance.now()
  const status = runSuite(node, file)
  const seconds = (performance.now() - began) / 1_000
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] }
  rmSync(folder, { recursive: true })
  return { version, status, seconds, ...summarise(report, root) }
}

function runSuite(node, report) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
  const { status } = spawnSync(node, [vitest, 'run', ...reporters, ...positionals], {
    cwd: root,
    // Tests that start `node` by name get this version too.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
    stdio: 'inherit',
  })
  return status
}

/** The binary of that version, installed on first use. */
function installed(major) {
  const folder = join(root, 'node_modules/.cache/toolpost-nodes', major)
  const node = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error']
    runNpm(['install', ...options, `node@${major}`], { cwd: folder, stdio: 'inherit' })
  }
  return node
}
