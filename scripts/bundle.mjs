// Bundles each command line into one CommonJS file, which starts in half the time of separate modules.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { keepCompiled } from './keep-compiled.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Loaded from node_modules, only when they are used. */
const rarelyUsed = [
  'pino',
  'mathjs',
  'minisearch',
  'json5',
  're2js',
  '@langchain/*',
  '@napi-rs/*',
  '@opentelemetry/*',
]

/**
 * Keeps commands with heavy imports out of the small bundle: `bin/toolpost.cjs` runs them from the large one. A process
 * loads only one of the two, so no module is ever loaded twice.
 */
const withoutLargeCommands = {
  name: 'without-large-commands',
  setup(build) {
    build.onResolve({ filter: /^\.\/commands\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined,
    )
  },
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
    build.onResolve({ filter: /^(@neon-rs\/load|detect-libc)$/ }, ({ path }) => ({
      path,
      namespace: 'target',
    }))
    build.onLoad({ filter: /.*/, namespace: 'target' }, ({ path }) => ({
      contents: path === 'detect-libc' ? libc : target,
    }))
  },
}

const entries = [
  {
    in: 'packages/toolpost/src/cli/main.ts',
    out: 'packages/toolpost/dist/cli.cjs',
    external: [...rarelyUsed, '@modelcontextprotocol/*'],
    plugins: [withoutLargeCommands],
  },
  {
    in: 'packages/toolpost/src/cli/main.ts',
    out: 'packages/toolpost/dist/cli-large.cjs',
    external: [...rarelyUsed, 'libsql'],
  },
  {
    in: 'node_modules/libsql/index.js',
    out: 'packages/toolpost/dist/libsql.cjs',
    external: ['@libsql/*'],
    plugins: [withUsualTarget],
  },
  {
    in: 'packages/zwave-mcp-server/src/cli.ts',
    out: 'packages/zwave-mcp-server/dist/zwave-mcp-server.cjs',
  },
  {
    in: 'packages/zwave-mcp-server/src/home/cli.ts',
    out: 'packages/zwave-mcp-server/dist/zwave-home.cjs',
  },
]

// Compiled code of another bundle must never run with this one.
for (const folder of new Set(entries.map(({ out }) => dirname(join(root, out)))))
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (name.endsWith('.compiled')) rmSync(join(folder, name))

for (const entry of entries) {
  if (!existsSync(join(root, entry.in))) continue
  await build({
    absWorkingDir: root,
    entryPoints: [entry.in],
    outfile: entry.out,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: entry.external ?? [],
    plugins: entry.plugins ?? [],
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
  const file = join(root, entry.out)
  // Cached code cannot use `import()`; `load-bundle` does it instead.
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('import("', 'bundle_import("'))
}

await keepCompiled(root)
