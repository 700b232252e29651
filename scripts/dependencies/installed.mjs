// The installed packages, from the lockfile and the disk.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { megabytesOf } from '../disk-usage.mjs'
import { readJson, root } from '../packing/packages.mjs'

const { packages } = readJson(join(root, 'package-lock.json'))

/** Every package installed from the registry: `{ path, name, version, license, isDev }`. */
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

/** Megabytes of a package alone, and with its dependencies. */
export function weightOf(name) {
  const paths = closure(place(name))
  return {
    alone: sizeOf(join(root, place(name) ?? '')),
    together: paths.reduce((sum, path) => sum + sizeOf(join(root, path)), 0),
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

/** Where a package is resolved from another one. */
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

/** Without nested packages, which are counted separately. */
function sizeOf(folder) {
  return megabytesOf(folder, { skip: ['node_modules'] })
}
