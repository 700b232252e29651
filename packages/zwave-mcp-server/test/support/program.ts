import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const out = `${root}.cache/test-${process.pid}-${process.env.VITEST_POOL_ID ?? 0}`

/** The programs as they are in the sources now, so that no test runs on a stale build. */
async function compile(): Promise<{ server: string; home: string }> {
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

export const programs = await compile()
afterAll(() => rmSync(out, { recursive: true, force: true }))
