// Removes from node_modules what this machine cannot use and what nothing here loads. Imports only Node's own modules.
import { existsSync, linkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Parts of packages that neither the product nor its tests, builds or benchmarks load; `*` is any one folder. */
const UNUSED = [
  // LangChain uses `js-tiktoken/lite`; this is every vocabulary, three times.
  'js-tiktoken/dist/ranks',
  'js-tiktoken/dist/index.js',
  'js-tiktoken/dist/index.cjs',
  // `math_eval` uses the one bundled file in lib/browser.
  'mathjs/lib/cjs',
  'mathjs/lib/esm',
  // Icons chosen at run time, and second and third copies of their names.
  'lucide-react/dynamic.d.ts',
  'lucide-react/dynamic.d.mts',
  'lucide-react/dynamicIconImports.d.ts',
  'lucide-react/dynamicIconImports.d.mts',
  'lucide-react/dist/lucide-react.prefixed.d.ts',
  'lucide-react/dist/lucide-react.suffixed.d.ts',
  // For bundlers; Node uses build/src.
  '@opentelemetry/*/build/esm',
  '@opentelemetry/*/build/esnext',
  // Sources of what is already built.
  'superjson/src',
  'zod/src',
  '@anthropic-ai/sdk/src',
  // Older models, and the trace viewer.
  '@ricky0123/vad-web/dist/silero_vad_legacy.onnx',
  '@ricky0123/vad-web/dist/silero_vad_v5.onnx',
  'playwright-core/lib/vite',
]

/** Returns the number of megabytes removed. */
export function prune(modules) {
  const steps = [otherPlatforms, otherLibc, unusedParts, sourceMaps, secondEsbuild]
  return Math.round(steps.reduce((sum, step) => sum + step(modules), 0) / 1e6)
}

function unusedParts(modules) {
  return UNUSED.flatMap(pattern => matching(modules, pattern.split('/'))).reduce(
    (sum, path) => sum + remove(path),
    0,
  )
}

function matching(folder, [first, ...rest]) {
  if (first === undefined) return [folder]
  if (first !== '*') return matching(join(folder, first), rest)
  return existsSync(folder) ? readdirSync(folder).flatMap(name => matching(join(folder, name), rest)) : []
}

/** onnxruntime-node contains the builds for every platform. */
function otherPlatforms(modules) {
  const bin = join(modules, 'onnxruntime-node', 'bin', 'napi-v6')
  if (!existsSync(bin)) return 0
  const builds = readdirSync(bin).flatMap(os => readdirSync(join(bin, os)).map(cpu => join(os, cpu)))
  const others = builds.filter(build => build !== join(process.platform, process.arch))
  return others.reduce((sum, build) => sum + remove(join(bin, build)), 0)
}

/** libsql's packages do not declare their C library, so npm installs both. */
function otherLibc(modules) {
  if (process.platform !== 'linux') return 0
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined
  return remove(join(modules, '@libsql', `linux-${process.arch}-${isGlibc ? 'musl' : 'gnu'}`))
}

/** esbuild's install script copies the binary from its platform's package; a hard link is enough. */
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

/** Source maps of dependencies; nothing here reads them. */
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
