// `npm run check:dependencies`: licences against an allow-list, a reason for every dependency, known vulnerabilities.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand } from '../npm.mjs'
import { publicPackages, readJson, root } from '../packing/packages.mjs'

const ALLOWED = [
  ...['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0'],
  ...['BlueOak-1.0.0', 'CC0-1.0', 'Unlicense', 'Zlib', 'PostgreSQL'],
]
/** For tests and builds only; nothing of it is published. */
const ALLOWED_IN_DEVELOPMENT = [...ALLOWED, 'MPL-2.0']
/**
 * Reviewed one by one: MPL-2.0 applies to changes to the package itself; the servers are MIT, by their LICENSE file, and for
 * tests only; OFL-1.1 requires its text to ship with the fonts, and the console does.
 */
const SEEN = {
  'OFL-1.1': /^@fontsource-variable\//,
  'MPL-2.0': /^@jmespath-community\/jmespath$/,
  'SEE LICENSE IN LICENSE': /^@modelcontextprotocol\/server-/,
}

/** Why we depend on each package. */
const reasons = readJson(join(root, 'scripts/dependencies/reasons.json'))
const installed = installedPackages()
const direct = [...new Set(publicPackages().flatMap(({ manifest }) => namesIn(manifest)))]
const problems = [...licenceProblems(), ...reasonProblems(), ...audit()]
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
if (problems.length === 0)
  process.stdout.write(
    `${installed.length} packages have an allowed licence; ${direct.length} are direct, each with a reason\n`,
  )

function namesIn({ dependencies, optionalDependencies, peerDependencies }) {
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

/** Every package installed from the registry: `{ path, name, isDev }`. */
function installedPackages() {
  const { packages } = readJson(join(root, 'package-lock.json'))
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link && existsSync(join(root, path)))
    .map(([path, { dev }]) => ({ path, name: path.split('node_modules/').at(-1), isDev: dev === true }))
}

function licenceProblems() {
  return installed.flatMap(({ path, name, isDev }) => {
    const { license } = readJson(join(root, path, 'package.json'))
    const text = typeof license === 'string' ? license : (license?.type ?? 'none')
    if (isAllowed(text, isDev ? ALLOWED_IN_DEVELOPMENT : ALLOWED) || SEEN[text]?.test(name)) return []
    return [`${name} has the licence '${text}', which is not allowed in scripts/dependencies/main.mjs`]
  })
}

/** `(MIT OR GPL-3.0)`: one of them is enough; `(MIT AND Zlib)`: all of them. */
function isAllowed(text, allowed) {
  const plain = text.replaceAll(/[()]/g, '')
  return plain.split(' OR ').some(choice => choice.split(' AND ').every(one => allowed.includes(one.trim())))
}

function reasonProblems() {
  return [
    ...direct
      .filter(name => !reasons[name])
      .map(name => `${name} has no reason in scripts/dependencies/reasons.json`),
    ...Object.keys(reasons)
      .filter(name => !direct.includes(name))
      .map(name => `${name} has a reason, but is not a dependency`),
  ]
}

/**
 * Skipped with a message if the registry does not answer with a report. With TOOLPOST_REQUIRE_AUDIT=1, as on GitHub, that is a
 * problem too.
 */
function audit() {
  const command = npmCommand(['audit', '--omit=dev', '--json'])
  const { stdout } = spawnSync(...command, { cwd: root, encoding: 'utf8' })
  const report = stdout?.startsWith('{') ? JSON.parse(stdout) : {}
  if (report.metadata === undefined) {
    const words = 'npm audit: NOT DONE, this registry does not list known vulnerabilities'
    if (process.env.TOOLPOST_REQUIRE_AUDIT === '1') return [words]
    process.stderr.write(`${words}\n`)
    return []
  }
  return Object.values(report.vulnerabilities)
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .map(({ name, severity }) => `${name} has a known vulnerability of level ${severity}; run: npm audit`)
}
