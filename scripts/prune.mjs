// Takes out of node_modules what no machine that it is on can use: 300 of 780 MB. Imports Node's own modules only.
import { existsSync, linkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Removes it; returns how many megabytes that were. */
export function prune(modules) {
  return Math.round(
    (otherPlatforms(modules) + otherLibc(modules) + sourceMaps(modules) + secondEsbuild(modules)) / 1e6,
  )
}

/** onnxruntime-node brings the builds of every platform in one package. */
function otherPlatforms(modules) {
  const bin = join(modules, 'onnxruntime-node', 'bin', 'napi-v6')
  if (!existsSync(bin)) return 0
  const builds = readdirSync(bin).flatMap(os => readdirSync(join(bin, os)).map(cpu => join(os, cpu)))
  const others = builds.filter(build => build !== join(process.platform, process.arch))
  return others.reduce((sum, build) => sum + remove(join(bin, build)), 0)
}

/** libsql's packages do not say which C library they are for, so npm installs both. */
function otherLibc(modules) {
  if (process.platform !== 'linux') return 0
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined
  return remove(join(modules, '@libsql', `linux-${process.arch}-${isGlibc ? 'musl' : 'gnu'}`))
}

/** esbuild's install script copies the program of its platform's package; a link does as well. */
function secondEsbuild(modules) {
  const copy = join(modules, 'esbuild', 'bin', 'esbuild')
  const program = join(modules, '@esbuild', `${process.platform}-${process.arch}`, 'bin', 'esbuild')
  if (!existsSync(copy) || !existsSync(program)) return 0
  const { size, nlink } = statSync(copy)
  if (nlink > 1 || size !== statSync(program).size) return 0
  rmSync(copy)
  linkSync(program, copy)
  return size
}

/** Of other people's code; nothing here reads them. */
function sourceMaps(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + (entry.name === '.cache' ? 0 : sourceMaps(path))
    return sum + (entry.isFile() && entry.name.endsWith('.map') ? remove(path) : 0)
  }, 0)
}

function remove(path) {
  if (!existsSync(path)) return 0
  const bytes = sizeOf(path)
  rmSync(path, { recursive: true })
  return bytes
}

function sizeOf(path) {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
