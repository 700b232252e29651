// `npm run pack`: packs every public package into `packed/` (`-- --out folder`). The speech runtime is packed for this platform
// only, so that all tarballs can be installed together; `-- --all-platforms` packs every platform, as a release does.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { runNpm } from '../npm.mjs'
import { publicPackages, root } from './packages.mjs'
import { stage } from './stage.mjs'
import { runtimePlatforms, writeRuntime } from './voice-files.mjs'

const VOICE = 'voice-gateway'

/** Packs everything: `[{ name, version, file, bytes, unpackedBytes, files, paths }]` in the order of publishing. */
export function packAll({ out = join(root, 'packed'), allPlatforms = false } = {}) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'toolpost-pack-'))
  try {
    return publicPackages().flatMap(one => [
      ...(one.manifest.name === VOICE ? packRuntimes(one.manifest, { out, work, allPlatforms }) : []),
      packOne(one, { out, work }),
    ])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function packOne(one, { out, work }) {
  const folder = join(work, one.manifest.name)
  stage(one, folder, one.manifest.name === VOICE ? withRuntimes : undefined)
  return pack(folder, out)
}

/** npm installs the one for this machine; if there is none, WebAssembly is used. */
function withRuntimes(manifest) {
  const runtimes = runtimePlatforms.map(({ name }) => [name, manifest.version])
  return { ...manifest, optionalDependencies: Object.fromEntries(runtimes) }
}

function packRuntimes(manifest, { out, work, allPlatforms }) {
  const isOurs = ({ os, cpu }) => os === process.platform && cpu === process.arch
  const wanted = runtimePlatforms.filter(platform => allPlatforms || isOurs(platform))
  return wanted.map(platform => {
    const folder = join(work, platform.name)
    writeRuntime(platform, folder, manifest)
    return pack(folder, out)
  })
}

function pack(folder, out) {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', out]
  const [packed] = JSON.parse(runNpm(args, { cwd: folder }))
  const { name, version, filename, unpackedSize: unpackedBytes, entryCount: files } = packed
  const file = join(out, filename)
  const paths = packed.files.map(({ path }) => path)
  return { name, version, file, bytes: statSync(file).size, unpackedBytes, files, paths }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({ options: { out: { type: 'string' }, 'all-platforms': { type: 'boolean' } } })
  const out = values.out && resolve(values.out)
  const packed = packAll({ out, allPlatforms: values['all-platforms'] })
  for (const { name, version, file, bytes, unpackedBytes } of packed) {
    const sizes = `${megabytes(bytes)} MB, unpacked ${megabytes(unpackedBytes)} MB`
    process.stdout.write(`${`${name}@${version}`.padEnd(40)} ${sizes.padEnd(32)} ${file}\n`)
  }
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1)
}
