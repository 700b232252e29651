// `npm run test:nodes`: the test suite on every Node that we support, each from npm into a folder of its own.
//   npm run test:nodes -- --nodes 22,24 tests packages/toolpost/src/executor
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { values, positionals } = parseArgs({ options: { nodes: { type: 'string' } }, allowPositionals: true })
const majors = (values.nodes ?? '20,22,24,26').split(',')

const outcomes = majors.map(major => ({ major, ...suiteOn(major) }))
for (const { version, status } of outcomes)
  process.stdout.write(`${status === 0 ? '✔' : '✘'} Node ${version}\n`)
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1

function suiteOn(major) {
  const node = installed(major)
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  process.stdout.write(`\nNode ${version}\n`)
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  // What the tests start by name is this Node as well.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  const { status } = spawnSync(node, [vitest, 'run', '--reporter=dot', ...positionals], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  return { version, status }
}

/** The program of that Node. Its package has it in another one, by platform. */
function installed(major) {
  const folder = join(root, 'node_modules/.cache/toolpost-nodes', major)
  const node = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    execFileSync(
      'npm',
      ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', `node@${major}`],
      { cwd: folder, stdio: 'inherit' },
    )
  }
  return node
}
