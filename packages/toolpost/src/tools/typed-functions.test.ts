import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { packageRoot } from '../util/package-root.ts'
import { defineTool } from './tool.ts'
import { ToolManager } from './tool-manager.ts'
import { codeFor } from './typed-functions.ts'

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

/** What the compiler says about these files, under strict. Inside the package, so that `toolpost` is found. */
async function compile(files: Record<string, string>): Promise<{ problems: string; folder: string }> {
  const folder = mkdtempSync(join(packageRoot(), 'codegen-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const target = { noEmit: true, module: 'nodenext', target: 'es2023', skipLibCheck: true, types: [] }
  const strict = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true }
  const compilerOptions = { ...target, ...strict }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const problems = await new Promise<string>(resolve =>
    execFile(process.execPath, [tsc, '-p', folder], (_, out, err) => resolve(out + err)),
  )
  return { problems, folder }
}

describe('toolpost codegen', { timeout: 120_000 }, () => {
  it('writes functions that take what the tools take, and call them through the executor', async () => {
    const description = 'ends */ here\n`${x}`'
    const properties = { on: { type: 'boolean' }, level: { type: 'integer' }, mode: { enum: ['a', 'b'] } }
    const light = { type: 'object', properties, required: ['on'] }
    const part = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'integer' } },
      required: [name],
    })
    const odd = {
      type: 'object',
      properties: {
        '1 odd name': { type: ['string', 'null'] },
        tags: { type: 'array', items: { enum: ['a | b', 1] } },
        labels: { type: 'object', additionalProperties: { type: 'integer' } },
        both: { allOf: [part('x'), { anyOf: [part('y'), part('z')] }] },
      },
      required: ['both', 'anything'],
    }
    const schema = { type: 'object' }
    const fail = () => Promise.reject(new Error('no light'))
    const tools = new ToolManager()
    tools.addCustomTool(
      defineTool({ name: 'switch_light', description, schema: light, handler: args => args }),
    )
    tools.addCustomTool(defineTool({ name: 'fail-me', description, schema, handler: fail }))
    tools.addCustomTool(defineTool({ name: 'odd', description, schema: odd, handler: fail }))
    const use = `import { connectTools } from './tools.js'
      const tools = connectTools({} as never)
      await tools.local.switchLight({ on: true, level: 3 })
      await tools.local.failMe()
      const labels = { a: 1 }
      await tools.local.odd({ '1 odd name': null, tags: ['a | b', 1], labels, both: { x: 1, z: 2 }, anything: 'a' })
      // @ts-expect-error 'both' needs x, and y or z
      await tools.local.odd({ both: { x: 1 }, anything: 1 })
      // @ts-expect-error a tag that is none of them
      await tools.local.odd({ both: { x: 1, y: 1 }, anything: 1, tags: ['b'] })
      // @ts-expect-error 'on' is missing
      await tools.local.switchLight({ level: 3 })
      // @ts-expect-error not one of them
      await tools.local.switchLight({ on: true, mode: 'c' })
      export {}`
    const { problems, folder } = await compile({ 'tools.ts': codeFor(tools), 'use.ts': use })
    expect(problems).toBe('')
    const outfile = join(folder, 'tools.mjs')
    await build({ entryPoints: [join(folder, 'tools.ts')], outfile, format: 'esm' })
    const { connectTools } = await import(pathToFileURL(outfile).href)
    const executor = new ToolExecutor(tools)
    const connected = connectTools(executor)
    expect(await connected.local.switchLight({ on: true })).toEqual({ on: true })
    await expect(connected.local.switchLight({ on: 'x' })).rejects.toMatchObject({
      cause: { code: 'invalid_arguments' },
    })
    await expect(connected.local.failMe()).rejects.toThrow('no light')
    expect(executor.metrics.snapshot().calls).toBe(3)
  })
})
