// The published packages of this workspace, with their manifests.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
export const readJson = file => JSON.parse(readFileSync(file, 'utf8'))

/** `{ folder, manifest }` of every public package, dependencies first. */
export function publicPackages() {
  const all = readdirSync(join(root, 'packages'))
    .map(name => join(root, 'packages', name))
    .filter(folder => existsSync(join(folder, 'package.json')))
    .map(folder => ({ folder, manifest: readJson(join(folder, 'package.json')) }))
    .filter(({ manifest }) => !manifest.private)
  return inOrder(all)
}

function inOrder(packages, done = []) {
  const names = new Set(done.map(({ manifest }) => manifest.name))
  const left = packages.filter(({ manifest }) => !names.has(manifest.name))
  if (left.length === 0) return done
  const waiting = new Set(left.map(({ manifest }) => manifest.name))
  const isFree = ({ manifest }) => Object.keys(manifest.dependencies ?? {}).every(name => !waiting.has(name))
  const next = left.filter(isFree)
  if (next.length === 0) throw new Error(`Circular dependencies between packages: ${[...waiting].join(', ')}`)
  return inOrder(packages, [...done, ...next])
}
