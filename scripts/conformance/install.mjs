// The suite needs a newer Node than we do. Both are installed from npm into a separate folder, which git ignores.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNpm } from '../npm.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const folder = join(here, '../../node_modules/.cache/toolpost-conformance')
const SUITE = '@modelcontextprotocol/conformance'

/** `{ node, suite, yaml }`: two paths, and the suite's YAML parser. Throws if they cannot be installed. */
export function install() {
  const wanted = readFileSync(join(here, 'versions.json'), 'utf8')
  const done = join(folder, 'installed.json')
  if (!existsSync(done) || readFileSync(done, 'utf8') !== wanted) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const packages = Object.entries(JSON.parse(wanted)).map(([name, version]) => `${name}@${version}`)
    const args = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, ...packages]
    runNpm(args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 180_000 })
    writeFileSync(done, wanted)
  }
  const require = createRequire(join(folder, 'package.json'))
  const suite = join(folder, 'node_modules', SUITE, 'dist/index.js')
  const fromSuite = createRequire(suite)
  return { node: nodeIn(require), suite, yaml: fromSuite('yaml') }
}

/** The binary of the `node` package; throws if it cannot run. */
function nodeIn(require) {
  const found = join(
    dirname(require.resolve('node/package.json')),
    process.platform === 'win32' ? 'bin/node.exe' : 'bin/node',
  )
  execFileSync(found, ['--version'], { stdio: 'ignore' })
  return found
}
