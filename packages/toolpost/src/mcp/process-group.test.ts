import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { isRunning, startHostile } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { compiledFile } from '../util/package-root.ts'

const path = (file: string) => JSON.stringify(fileURLToPath(compiledFile(file)))
const imports = `
  import { ToolExecutor, ToolManager } from ${path('index.js')}
  import { McpIntegration } from ${path('mcp/index.js')}`

/** A program with a server that ignores whatever it can, and a child of that server. */
async function programWithServer(ending: string) {
  const program = `${imports}
    const mcp = new McpIntegration({ servers: { stubborn: ${JSON.stringify(hostileServer({ isStubborn: true }))} } })
    const tools = new ToolManager()
    mcp.start(tools)
    await mcp.ready()
    const children = JSON.parse(await new ToolExecutor(tools).execute('children', { count: 1 }))
    console.log(JSON.stringify([mcp.status()[0].pid, ...children]))
    ${ending}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await once(child.stdout, 'data')
  return { child, pids: JSON.parse(String(output)) as number[] }
}

it('[F53] servers end when the program is killed, or exits without closing them, also one that ignores it', async () => {
  const [exiting, killed] = await Promise.all(
    ['setTimeout(() => process.exit(0), 100)', 'setInterval(() => {}, 1_000)'].map(programWithServer),
  )
  const pids = [exiting, killed].flatMap(program => program?.pids ?? [])
  expect(pids).toHaveLength(4)
  killed?.child.kill('SIGKILL')
  await expect.poll(() => pids.filter(isRunning), { timeout: 15_000 }).toEqual([])
})

it('[F15] fifty grandchildren do not outlive close, but a daemon that was detached on purpose does', async () => {
  const server = await startHostile()
  const start = async (args: object): Promise<number[]> =>
    JSON.parse(await server.executor.execute('children', args))
  const children = await start({ count: 50 })
  const [daemon = 0] = await start({ count: 1, detached: true })
  try {
    await server.mcp.close()
    expect(children).toHaveLength(50)
    expect(children.filter(isRunning)).toEqual([])
    expect(isRunning(daemon)).toBe(true)
  } finally {
    process.kill(daemon, 'SIGKILL')
  }
})

it.runIf(process.platform === 'linux')('[F53] a watchdog that is gone is replaced', async () => {
  const watchdogs = () => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
      encoding: 'utf8',
    })
    return stdout.split('\n').filter(line => line.includes('toolpost-watchdog'))
  }
  await using _ = await startHostile()
  const [before = ''] = watchdogs()
  process.kill(Number.parseInt(before, 10), 'SIGKILL')
  await expect.poll(watchdogs).toEqual([expect.not.stringContaining(before)])
})

it.runIf(process.platform === 'linux')(
  '[F64] out of file handles, a restart fails and the process lives; afterwards it works',
  async () => {
    const program = `${imports}
      import { closeSync, openSync } from 'node:fs'
      const mcp = new McpIntegration({ servers: { one: ${JSON.stringify(hostileServer())} }, retry: { attempts: 1 } })
      mcp.start(new ToolManager())
      await mcp.ready()
      await mcp.stop('one')
      const handles = []
      try { for (;;) handles.push(openSync('/dev/null')) } catch {}
      const failed = mcp.restart('one')
      await failed
      const { state, error } = mcp.status()[0]
      for (const handle of handles) closeSync(handle)
      await mcp.restart('one')
      console.log(JSON.stringify({ state, error, after: mcp.status()[0].state }))
      await mcp.close()
      process.exit(0)`
    const script = 'ulimit -n 256; exec "$0" --input-type=module -e "$1"'
    const child = spawn('/bin/sh', ['-c', script, process.execPath, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await once(child.stdout, 'data')
    expect(JSON.parse(String(output))).toEqual({
      state: 'lost',
      error: expect.stringContaining('EMFILE'),
      after: 'ready',
    })
  },
)
