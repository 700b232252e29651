// Bundles each command line into one CommonJS file, which starts in half the time of separate modules. Parts that a command
// does not use are not run, and thanks to the cache of compiled code (bin/toolpost.cjs) hardly cost anything.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Loaded from node_modules, only when they are used. */
const external = [
  ...['pino', 'toolpost-sentences', 'mathjs', 'mqtt', 'minisearch', 'json5', 're2js', 'yaml', 'libsql'],
  ...['@langchain/*', '@napi-rs/*', '@opentelemetry/*'],
]

const entries = {
  'packages/toolpost/src/cli/main.ts': 'packages/toolpost/dist/cli.cjs',
  'packages/zwave-mcp-server/src/cli.ts': 'packages/zwave-mcp-server/dist/zwave-mcp-server.cjs',
  'packages/zwave-mcp-server/src/home/cli.ts': 'packages/zwave-mcp-server/dist/zwave-home.cjs',
  'node_modules/libsql/index.js': 'packages/toolpost/dist/libsql.cjs',
}

/**
 * libsql writes a diagnostic report of the process to find out which native package it needs, which takes longer than
 * everything else that a command does. This copy tries the usual one; `history/database.ts` falls back to the package itself.
 */
const withUsualTarget = {
  name: 'with-usual-target',
  setup(build) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules/libsql/package.json'), 'utf8'))
    const target = `exports.currentTarget = () => {
      const target = process.platform + '-' + process.arch + (process.platform === 'linux' ? '-gnu' : '')
      if (require('@libsql/' + target + '/package.json').version === '${version}') return target
      throw new Error('another version of libsql')
    }`
    const libc = 'exports.familySync = () => undefined'
    const filter = /^(@neon-rs\/load|detect-libc)$/
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'target' }))
    build.onLoad({ filter: /.*/, namespace: 'target' }, ({ path }) => ({
      contents: path === 'detect-libc' ? libc : target,
    }))
  },
}

/** Modules of Node that are slow to load, and that most commands import but do not use. */
const loadedWhenUsed = {
  name: 'loaded-when-used',
  setup(build) {
    build.onResolve({ filter: /^node:(child_process|crypto|fs\/promises)$/ }, ({ path, namespace }) =>
      namespace === 'when-used' ? { path, external: true } : { path, namespace: 'when-used' },
    )
    build.onLoad({ filter: /.*/, namespace: 'when-used' }, async ({ path }) => {
      const names = JSON.stringify(Object.keys(await import(path)))
      const getter = `{ enumerable: true, get: () => require('${path}')[name] }`
      return { contents: `for (const name of ${names}) Object.defineProperty(exports, name, ${getter})` }
    })
  },
}

function externalOf(entry) {
  if (entry.includes('libsql')) return ['@libsql/*']
  return entry.includes('zwave') ? [] : external
}

for (const [entry, outfile] of Object.entries(entries)) {
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: externalOf(entry),
    plugins: [entry.includes('libsql') ? withUsualTarget : loadedWhenUsed],
    minify: true,
    keepNames: true,
    legalComments: 'none',
    define: { 'import.meta.url': 'bundle_url' },
    banner: {
      js: `const bundle_url = require('node:url').pathToFileURL(__filename).href
const bundle_import = typeof load_module === 'undefined' ? name => import(name) : load_module`,
    },
    // jsonc-parser's CommonJS form hides its imports from bundlers.
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  })
  // Code from the cache cannot use `import()`; `bin/toolpost.cjs` does it instead.
  const file = join(root, outfile)
  const [banner, ...code] = readFileSync(file, 'utf8').split(/(?<=load_module;?\n)/)
  const bundle = banner + code.join('').replace(/(?<![\w$.])import\(/g, 'bundle_import(')
  // `bin/toolpost.cjs` reads it as Latin-1, which is faster.
  const escaped = sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, bundle.replace(/[^\x00-\x7f]/g, escaped))
}

const dist = join(root, 'packages/toolpost/dist')
for (const name of readdirSync(dist)) if (name.includes('.cache')) rmSync(join(dist, name))
// The first call leaves its compiled code.
const program = join(root, 'packages/toolpost/bin/toolpost.cjs')
const cwd = mkdtempSync(join(tmpdir(), 'toolpost-build-'))
writeFileSync(join(cwd, 'toolpost.json'), '{ "mcpServers": {} }')
spawnSync(process.execPath, [program, 'call', 'echo', 'x=1'], { cwd, stdio: 'ignore' })
rmSync(cwd, { recursive: true })
