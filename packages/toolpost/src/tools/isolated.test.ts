import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { openProject } from '../project/open-project.ts'
import { compiledFile } from '../util/package-root.ts'
import { declareTools } from './declared-tools.ts'
import { closeIsolated } from './isolated.ts'
import { ToolManager } from './tool-manager.ts'

const moduleOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const declaration = {
  name: 'f',
  description: 'd',
  implementation: { type: 'builtin', handler: 'f' },
} as const

/** Calls an isolated builtin, the export `f` of some code, through an executor. */
function executorFor(code: string) {
  const builtins = { f: { module: moduleOf(code), export: 'f', isolated: true as const } }
  const executor = new ToolExecutor(new ToolManager({ tools: declareTools([declaration], { builtins }) }))
  return (args: object = {}, options: { caller?: string; timeoutMs?: number; signal?: AbortSignal } = {}) =>
    executor.run({ name: 'f', args }, { timeoutMs: 30_000, ...options })
}

const resultOf = async (run: ReturnType<ReturnType<typeof executorFor>>) => {
  const result = await run
  return result.success ? (result.result as number) : result.error
}

function isAlive(pid: unknown): boolean {
  try {
    return process.kill(pid as number, 0)
  } catch {
    return false
  }
}

afterEach(() => closeIsolated())

describe('an isolated builtin', () => {
  it('runs in another process, which gets nothing secret of the environment', async () => {
    vi.stubEnv('TOOLPOST_TEST_TOKEN', 'secret')
    const run = executorFor('export const f = args => ({ ...args, pid: process.pid, env: process.env })')
    const result = await run({ x: 1 })
    vi.unstubAllEnvs()
    expect(result).toMatchObject({ result: { x: 1, env: { PATH: process.env.PATH } } })
    expect(result).not.toMatchObject({ result: { pid: process.pid } })
    expect(result).not.toHaveProperty('result.env.TOOLPOST_TEST_TOKEN')
  })

  it('[F20] that spins is stopped at its deadline, and the next call works', async () => {
    const run = executorFor('export const f = args => { if (args.spin) for (;;); return process.pid }')
    const pid = await resultOf(run())
    const spinning = await run({ spin: true }, { timeoutMs: 400 })
    expect(spinning).toMatchObject({ code: 'timeout', error: "Tool 'f' timed out after 400 ms" })
    expect(await resultOf(run())).not.toBe(pid)
    await vi.waitUntil(() => !isAlive(pid))
  })

  it('[F22] that fills its memory, exits or throws fails alone', async () => {
    const run = executorFor(`export const f = ({ how }) => {
      if (how === 'fill') for (const all = []; ; ) all.push(new Array(10_000).fill(1.5))
      if (how === 'exit') process.exit(3)
      if (how === 'throw') throw Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' })
      if (how === 'function') return () => 1
      return 'fine'
    }`)
    expect(await resultOf(run({ how: 'fill' }))).toBe('f ran out of memory (limit 64 MB)')
    expect(await resultOf(run({ how: 'exit' }))).toBe('f exited with code 3 before it answered')
    expect(await run({ how: 'throw' })).toMatchObject({ code: 'unavailable' })
    expect(await resultOf(run({ how: 'function' }))).toMatch(/^The result cannot be serialized: /)
    expect(await resultOf(run({ how: 'well' }))).toBe('fine')
  })

  it('[F55] with endless calls of one caller gets the next child for another', async () => {
    const run = executorFor('export const f = args => { if (args.spin) for (;;); return "answered" }')
    const endless = new AbortController()
    const attack = Array.from({ length: 20 }, () =>
      run({ spin: true }, { caller: 'greedy', signal: endless.signal }),
    )
    // They would wait for half a minute each, until the attack times out.
    for (const caller of ['modest', 'another', 'modest'])
      expect(await resultOf(run({}, { caller }))).toBe('answered')
    endless.abort()
    const codes = (await Promise.all(attack)).map(result => !result.success && result.code)
    expect(new Set(codes)).toEqual(new Set(['cancelled']))
    expect(await resultOf(run({}, { caller: 'greedy' }))).toBe('answered')
  })
})

it.runIf(process.platform === 'linux')('the children are gone when the project is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-'))
  await writeFile(join(folder, 'toolpost.json'), '{}')
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  const before = children()
  const project = await openProject({ file: join(folder, 'toolpost.json') })
  const call = { name: 'math_eval', args: { expression: '1 + 1' } }
  expect(await project.executor.run(call, { timeoutMs: 15_000 })).toMatchObject({ result: { result: 2 } })
  expect(children().length).toBeGreaterThan(before.length)
  await project.close()
  expect(children()).toBe(before)
  await rm(folder, { recursive: true })
})

describe('a program with isolated builtins', () => {
  const server = createServer()
  let program: ChildProcess
  let child: Socket

  /** Starts a program that calls one. Waits until the child has connected. */
  async function start(mode: 'return' | 'spin'): Promise<void> {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const code = `import { connect } from 'node:net'
      setInterval(() => {}, 1e6)
      export const f = ({ port, mode }) => new Promise(resolve => {
        const socket = connect(port, '127.0.0.1', () => { if (mode === 'spin') for (;;); resolve('done') })
        socket.unref()
      })`
    const args = { port: (server.address() as AddressInfo).port, mode }
    const text = `import { declareTools, ToolExecutor, ToolManager } from '${compiledFile('index.js').href}'
      const builtins = { f: { module: new URL(${JSON.stringify(moduleOf(code).href)}), export: 'f', isolated: true } }
      const tools = declareTools([${JSON.stringify(declaration)}], { builtins })
      await new ToolExecutor(new ToolManager({ tools })).run({ name: 'f', args: ${JSON.stringify(args)} })`
    program = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: 'inherit' })
    const [socket] = (await once(server, 'connection')) as [Socket]
    child = socket.on('error', () => {}).resume()
  }

  afterEach(async () => {
    program.kill('SIGKILL')
    child.destroy()
    await new Promise(closed => server.close(closed))
  })

  it('is not held open by an idle child, which ends with it', async () => {
    await start('return')
    const [[code]] = await Promise.all([once(program, 'exit'), once(child, 'close')])
    expect(code).toBe(0)
  })

  it('that is killed takes a spinning child with it', async () => {
    await start('spin')
    program.kill('SIGKILL')
    await once(child, 'close')
  })
})
