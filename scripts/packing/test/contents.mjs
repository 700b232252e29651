// Checks what every tarball must and must not contain.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const READ = ['package.json', 'README.md', 'LICENSE']
const NEVER = [
  /\.tsbuildinfo$/,
  /\.test\.[cm]?[jt]s$/,
  /(^|\/)node_modules\//,
  /^src\//,
  /\.map$/,
  /(^|\/)\.env/,
]
const FIELDS = ['description', 'keywords', 'license', 'repository', 'publishConfig']

/** Throws with what is missing or superfluous. Tarballs are unpacked into `work`. */
export async function checkContents(packed, work) {
  const problems = []
  for (const one of packed) {
    const found = problemsOf(one, await unpacked(one, join(work, one.name)))
    problems.push(...found.map(problem => `${one.name}: ${problem}`))
  }
  assert.deepEqual(problems, [])
  return `README, LICENSE and metadata in ${packed.length} tarballs`
}

function problemsOf({ name, paths }, text) {
  const manifest = JSON.parse(text('package.json'))
  return [
    ...READ.filter(path => text(path).length < 100).map(path => `no ${path}`),
    ...paths.filter(path => NEVER.some(pattern => pattern.test(path))).map(path => `${path} is in it`),
    ...FIELDS.filter(field => !manifest[field]).map(field => `no ${field}`),
    ...(manifest.publishConfig?.provenance ? [] : ['publishConfig without provenance']),
    ...(manifest.repository?.url ? [] : ['no URL of the repository']),
    ...(manifest.scripts || manifest.devDependencies ? ['scripts or devDependencies'] : []),
    ...(text('README.md').includes(name) ? [] : ['a README that is not its own']),
  ]
}

/** Reads files from the tarball itself, not from its sources. */
async function unpacked({ file, paths }, folder) {
  const there = READ.filter(path => paths.includes(path))
  mkdirSync(folder, { recursive: true })
  // By its name only: tar would take a drive letter for a host.
  const args = ['xzf', basename(file), '-C', folder, ...there.map(path => `package/${path}`)]
  await run('tar', args, { cwd: dirname(file) })
  return path => (there.includes(path) ? readFileSync(join(folder, 'package', path), 'utf8') : '')
}
