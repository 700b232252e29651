// Bundles each command line into one CommonJS file: it starts in half the time of separate modules.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Loaded only when they are used, from node_modules. */
const external = [
  'pino',
  'mathjs',
  'minisearch',
  'json5',
  're2js',
  '@langchain/*',
  '@modelcontextprotocol/*',
  '@napi-rs/*',
  '@opentelemetry/*',
]

const entries = [
  { in: 'packages/toolpost/src/cli/main.ts', out: 'packages/toolpost/dist/cli.cjs', external },
  {
    in: 'packages/zwave-mcp-server/src/cli.ts',
    out: 'packages/zwave-mcp-server/dist/zwave-mcp-server.cjs',
    external: [],
  },
  {
    in: 'packages/zwave-mcp-server/src/home/cli.ts',
    out: 'packages/zwave-mcp-server/dist/zwave-home.cjs',
    external: [],
  },
]

/**
 * Commands that load more than a bundle should hold are left out of it: `bin/toolpost.cjs` runs them from the modules.
 * So no module is ever there twice in one process, once in the bundle and once beside it.
 */
const withoutLargeCommands = {
  name: 'without-large-commands',
  setup(build) {
    build.onResolve({ filter: /^\.\/commands\// }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path: path.replace(/\.ts$/, '.js'), external: true } : undefined,
    )
  },
}

const dist = join(root, 'packages/toolpost/dist')
// What was kept for another bundle must never be run with this one.
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (name.endsWith('.compiled')) rmSync(join(dist, name))

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
    external: entry.external,
    plugins: [withoutLargeCommands],
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
  // Compiled code that was kept cannot import: bin/load-bundle.cjs does it for it.
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('import("', 'bundle_import("'))
}

keepCompiled()

/** Runs a call once, and keeps the compiled code of all that it needed. Without it, everything works, and starts slower. */
function keepCompiled() {
  const loader = join(root, 'packages/toolpost/bin/load-bundle.cjs')
  const cwd = mkdtempSync(join(tmpdir(), 'toolpost-build-'))
  const code = `process.argv.splice(1, 0, 'toolpost'); require(${JSON.stringify(loader)}).keepCompiled()`
  spawnSync(process.execPath, ['-e', code, 'call', 'echo', 'x=1'], { cwd, stdio: 'ignore', timeout: 30_000 })
  rmSync(cwd, { recursive: true, force: true })
}
