// Installs and builds only what is missing or out of date; runs before anything is installed, so with Node's modules only.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from './npm.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.cache', 'toolpost', 'build')
const packages = readdirSync(join(root, 'packages')).filter(name =>
  existsSync(join(root, 'packages', name, 'package.json')),
)

if (Number.parseInt(process.versions.node, 10) < 20)
  fail(`Toolpost needs Node 20 or newer; this is ${process.version}.`)

const MANIFESTS = [
  'package-lock.json',
  'package.json',
  ...packages.map(name => `packages/${name}/package.json`),
]
/** What the build depends on, besides the package sources. */
const BUILD_FILES = ['tsconfig.json', 'tsconfig.base.json', 'scripts/bundle.mjs']
const npmOptions = ['--no-audit', '--no-fund', '--loglevel=error']
const node = (...args) => run(process.execPath, args)

if (!isInstalled()) perform('Installing packages (npm ci)', () => run(...npmCommand(['ci', ...npmOptions])))
if (process.argv.includes('--build') || !isBuilt()) build()

function build() {
  perform('Compiling the packages', () => node(join('node_modules', 'typescript', 'bin', 'tsc'), '-b'))
  perform('Bundling the command lines', () => node(join('scripts', 'bundle.mjs')))
  const vite = join('node_modules', 'vite', 'bin', 'vite.js')
  perform('Building the console', () =>
    node(vite, 'build', join('packages', 'console'), '--logLevel', 'warn'),
  )
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, buildFingerprint())
}

function perform(title, action) {
  say(`${title} …`)
  const began = performance.now()
  action()
  say(`${title}: done in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
}

/** npm writes `.package-lock.json` when an installation is complete. */
function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const { mtimeMs } = statSync(installed)
  return MANIFESTS.every(file => statSync(join(root, file)).mtimeMs <= mtimeMs)
}

function isBuilt() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === buildFingerprint()
}

/** Sources by size and modification time, and whether each package still has its output. */
function buildFingerprint() {
  const hash = createHash('sha256').update(process.version)
  for (const file of [...MANIFESTS, ...BUILD_FILES]) addPath(hash, join(root, file))
  for (const name of packages) {
    for (const part of ['src', 'public', 'index.html', 'vite.config.ts', 'tsconfig.json'])
      addPath(hash, join(root, 'packages', name, part))
    hash.update(`${name} built: ${existsSync(join(root, 'packages', name, 'dist'))}`)
  }
  return hash.digest('hex')
}

function addPath(hash, path) {
  if (!existsSync(path) || path.includes('.test.')) return
  const { size, mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return hash.update(`${path} ${size} ${mtimeMs}\n`)
  for (const name of readdirSync(path)) addPath(hash, join(path, name))
}

function run(command, args) {
  // Output goes to stderr: stdout belongs to the program that is started afterwards.
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    // As in .npmrc, for versions of npm that do not pass on unknown settings.
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
  })
  if (error) fail(`${command} could not be run: ${error.message}`)
  if (status !== 0) fail(`'${command} ${args.join(' ')}' failed with exit code ${status}.`)
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
