import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** One level below the package, like `dist`, because the programs read its `data` folder. */
const out = `${root}.cache-test-${process.pid}-${process.env.VITEST_POOL_ID ?? 0}`

interface Programs {
  server: string
  home: string
}

/** The build that `npm test` made if it is up to date, else a fresh one: no test runs on a stale build. */
async function currentPrograms(): Promise<Programs> {
  const built = ['zwave-mcp-server', 'zwave-home'].every(name => isUpToDate(`${root}dist/${name}.cjs`))
  if (!built) return compile()
  return { server: `${root}bin/zwave-mcp-server.js`, home: `${root}bin/zwave-home.js` }
}

function isUpToDate(bundle: string): boolean {
  if (!existsSync(bundle)) return false
  const { mtimeMs } = statSync(bundle)
  return readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).every(
    name => name.includes('.test.') || statSync(`${root}src/${name}`).mtimeMs <= mtimeMs,
  )
}

async function compile(): Promise<Programs> {
  mkdirSync(out, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: { server: 'src/cli.ts', home: 'src/home/cli.ts' },
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  })
  return { server: `${out}/server.mjs`, home: `${out}/home.mjs` }
}

export const programs = await currentPrograms()
afterAll(() => rmSync(out, { recursive: true, force: true }))
