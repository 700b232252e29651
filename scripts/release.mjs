// One version for all packages, in three steps:
//   npm run release -- --dry-run      shows what would be published, with sizes and changes; changes nothing
//   npm run release -- 0.2.0          sets the version everywhere and closes "Unreleased" in CHANGELOG.md; then commit and tag
//   npm run release -- --publish      packs every platform, writes the bill of materials, publishes; run by the workflow
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runNpm } from './npm.mjs'
import { packAll } from './packing/pack.mjs'
import { publicPackages, readJson, root } from './packing/packages.mjs'

const { values, positionals } = parseArgs({
  options: {
    'dry-run': { type: 'boolean' },
    publish: { type: 'boolean' },
    'this-platform': { type: 'boolean' },
  },
  allowPositionals: true,
})
const current = readJson(join(root, 'package.json')).version
const [next] = positionals

if (values['dry-run'] || values.publish) release({ isDry: values['dry-run'] === true })
else if (next) prepare(next)
else fail(['expected --dry-run, --publish or a version'])

function prepare(version) {
  const problems = [
    ...(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) ? [] : [`'${version}' is not a valid version`]),
    ...(changesOf('Unreleased') === '' ? ['CHANGELOG.md has nothing under Unreleased'] : []),
  ]
  if (problems.length > 0) fail(problems)
  writeVersion(version)
  runNpm(['install', '--package-lock-only', '--loglevel=error'], { cwd: root, stdio: 'inherit' })
  say(`Now: git commit -am "Release ${version}" && git tag v${version} && git push --follow-tags`)
}

/** All packages have the workspace's version, and depend on each other in that version. */
function writeVersion(version) {
  const names = new Set(publicPackages().map(({ manifest }) => manifest.name))
  const folders = [
    '.',
    'packages/console',
    ...publicPackages().map(({ folder }) => folder.slice(root.length + 1)),
  ]
  for (const folder of folders) {
    const file = join(root, folder, 'package.json')
    const manifest = { ...readJson(file), version }
    for (const kind of ['dependencies', 'devDependencies'])
      for (const name of Object.keys(manifest[kind] ?? {}).filter(each => names.has(each)))
        manifest[kind][name] = version
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  }
  const heading = `\n## Unreleased\n\n## ${version} (${new Date().toISOString().slice(0, 10)})\n`
  const log = join(root, 'CHANGELOG.md')
  writeFileSync(log, readFileSync(log, 'utf8').replace('\n## Unreleased\n', heading))
}

function release({ isDry }) {
  const problems = [...versionProblems(), ...(isDry ? [] : releaseProblems())]
  if (problems.length > 0) fail(problems)
  const packed = packAll({ allPlatforms: !values['this-platform'] })
  const sbom = join(root, 'packed', 'sbom.cdx.json')
  writeFileSync(sbom, billOfMaterials())
  say(`${isDry ? 'Would publish' : 'Publishing'}, in this order:`)
  for (const { name, version, bytes, unpackedBytes, files } of packed)
    say(
      `  ${`${name}@${version}`.padEnd(36)} ${mb(bytes)} packed, ${mb(unpackedBytes)} unpacked, ${files} files`,
    )
  say(`  bill of materials: ${sbom}`)
  if (isDry) say(`\nChanges:\n\n${changesOf('Unreleased') || changesOf(current) || '(none)'}`)
  // Provenance, requested by `publishConfig`, needs a workflow that may sign.
  else for (const { file } of packed) runNpm(['publish', file], { cwd: root, stdio: 'inherit' })
}

function versionProblems() {
  return publicPackages()
    .filter(({ manifest }) => manifest.version !== current)
    .map(({ manifest }) => `${manifest.name} has version ${manifest.version}, but the workspace ${current}`)
}

/** Only what is committed and in the changelog may be published. */
function releaseProblems() {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).trim()
  return [
    ...(changed === '' ? [] : ['there are uncommitted changes']),
    ...(changesOf(current) === '' ? [`CHANGELOG.md has nothing under ${current}`] : []),
  ]
}

/** The text under a heading of CHANGELOG.md. */
function changesOf(heading) {
  const parts = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split('\n## ')
  const part = parts.find(text => text.split('\n')[0].split(' ')[0] === heading)
  return part?.slice(part.indexOf('\n')).trim() ?? ''
}

function billOfMaterials() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--loglevel=error']
  return runNpm(args, { cwd: root, maxBuffer: 1e8 })
}

function mb(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`.padStart(8)
}

function say(text) {
  process.stdout.write(`${text}\n`)
}

function fail(reasons) {
  for (const reason of reasons) process.stderr.write(`${reason}\n`)
  process.exit(1)
}
