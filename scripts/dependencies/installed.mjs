// What is installed, from the lockfile and the disk.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, root } from '../packing/packages.mjs'

const { packages } = readJson(join(root, 'package-lock.json'))

/** Every package of the registry that is installed: `{ path, name, version, license, isDev }`. */
export function installedPackages() {
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link && existsSync(join(root, path)))
    .map(([path, { version, license, dev }]) => ({
      path,
      name: nameOf(path),
      version,
      license,
      isDev: dev === true,
    }))
}

/** Megabytes of a package alone, and with everything that it needs. */
export function weightOf(name) {
  const paths = closure(place(name))
  const alone = sizeOf(join(root, place(name) ?? ''))
  return {
    alone: alone / 1e6,
    together: paths.reduce((sum, path) => sum + sizeOf(join(root, path)), 0) / 1e6,
    packages: paths.length,
  }
}

function closure(start, seen = new Set()) {
  if (start === undefined || seen.has(start) || !existsSync(join(root, start))) return [...seen]
  seen.add(start)
  const { dependencies = {}, optionalDependencies = {} } = packages[start] ?? {}
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
    closure(place(name, start), seen)
  return [...seen]
}

/** Where a package is found from another one. */
function place(name, from = '') {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = [folder, 'node_modules', name].filter(Boolean).join('/')
    if (packages[path]) return path
    if (folder === '' || !folder.includes('/node_modules/')) {
      const hoisted = `node_modules/${name}`
      return packages[hoisted] ? hoisted : undefined
    }
  }
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** Without packages inside of it: those count for themselves. */
function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === 'node_modules') return sum
    const path = join(folder, entry.name)
    return sum + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).blocks * 512)
  }, 0)
}
