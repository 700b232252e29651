// Runs the benchmarks: `npm run bench`, or one of them: `npm run bench -- executor|catalog|cold-start|mcp|gateway|tool-search`.
// Builds the product and installs the peers if they are missing. Imports only Node's own modules.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from './npm.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bench = join(root, 'bench')
const stamp = join(bench, 'node_modules', '.toolpost-bench')

const BENCHMARKS = {
  executor: { needsPeers: true, flags: ['--expose-gc'] },
  catalog: {},
  'cold-start': {},
  mcp: { needsPeers: true },
  gateway: {},
  'tool-search': {},
}

const chosen = process.argv.slice(2)
const wrong = chosen.find(name => !Object.hasOwn(BENCHMARKS, name))
if (wrong !== undefined)
  fail(`unknown benchmark '${wrong}'; expected one of ${Object.keys(BENCHMARKS).join(', ')}`, 2)

run(process.execPath, [join('scripts', 'setup.mjs')], { cwd: root, stdio: ['ignore', 2, 2] })
const names = chosen.length > 0 ? chosen : Object.keys(BENCHMARKS)
if (names.some(name => BENCHMARKS[name].needsPeers)) installPeers()
for (const name of names) {
  console.log(`\n## ${name}\n`)
  run(process.execPath, [...(BENCHMARKS[name].flags ?? []), join('src', `${name}.mjs`)], {
    cwd: bench,
    stdio: 'inherit',
  })
}

/** Installs bench/, unless the last successful installation had the same packages. */
function installPeers() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint()) return
  process.stderr.write('Installing the peers …\n')
  run(...npmCommand(['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']), {
    cwd: bench,
    stdio: ['ignore', 2, 2],
  })
  writeFileSync(stamp, fingerprint())
}

function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.versions.modules}`)
  for (const file of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(bench, file)))
  return hash.digest('hex')
}

function run(command, args, options) {
  const { status, error } = spawnSync(command, args, options)
  if (error) fail(`${command} could not be run: ${error.message}`)
  if (status !== 0) fail(`'${command} ${args.join(' ')}' failed with exit code ${status}.`)
}

function fail(text, exitCode = 1) {
  process.stderr.write(`${text}\n`)
  process.exit(exitCode)
}
