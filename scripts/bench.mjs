// Runs the benchmarks: `npm run bench`, or one of them: `npm run bench -- executor|catalog|cold-start|mcp|gateway|tool-search`.
// Builds the product and installs the peers if they are missing. Imports only Node's own modules.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from './npm.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bench = join(root, 'bench')
const BENCHMARKS = ['executor', 'catalog', 'cold-start', 'mcp', 'gateway', 'tool-search']
const NEED_PEERS = ['executor', 'mcp']

const chosen = process.argv.slice(2)
const wrong = chosen.find(name => !BENCHMARKS.includes(name))
if (wrong !== undefined) fail(`unknown benchmark '${wrong}'; expected one of ${BENCHMARKS.join(', ')}`, 2)
const names = chosen.length > 0 ? chosen : BENCHMARKS

run(process.execPath, [join('scripts', 'setup.mjs')], root)
if (names.some(name => NEED_PEERS.includes(name)) && !existsSync(join(bench, 'node_modules', 'ai')))
  run(...npmCommand(['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']), bench)
for (const name of names) {
  console.log(`\n## ${name}\n`)
  run(process.execPath, ['--expose-gc', join('src', `${name}.mjs`)], bench)
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (error) fail(`${command} could not be run: ${error.message}`)
  if (status !== 0) fail(`'${command} ${args.join(' ')}' failed with exit code ${status}.`)
}

function fail(text, exitCode = 1) {
  process.stderr.write(`${text}\n`)
  process.exit(exitCode)
}
