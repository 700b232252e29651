import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { unharmed } from '../../test/unharmed.ts'
import { compiledFile } from '../runtime/package-root.ts'
import { newMark } from './group-watchdog.ts'
import { adoptGroup, endGroup, lookAt } from './process-group.ts'

/** A program with a server that ignores whatever it can; gives the program and what runs below it, itself included. */
async function programWithServer(ending: string) {
  const path = (file: string) => JSON.stringify(fileURLToPath(compiledFile(file)))
  const program = `
    import { ToolExecutor, ToolManager } from ${path('index.js')}
    import { McpIntegration } from ${path('mcp/index.js')}
    const mcp = new McpIntegration({ servers: { stubborn: ${JSON.stringify(hostileServer({ ignoresSigterm: true }))} } })
    const tools = new ToolManager()
    mcp.start(tools)
    await mcp.ready()
    const executor = new ToolExecutor(tools)
    const children = [await executor.execute('children', { count: 1 })]
    if (process.platform === 'linux')
      for (const clean of [false, true])
        children.push(await executor.execute('children', { detached: true, clean }))
    console.log(JSON.stringify([mcp.status()[0].pid, ...children.flatMap(JSON.parse)]))
    ${ending}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await once(child.stdout, 'data')
  return { child, pids: JSON.parse(String(output)) as number[] }
}

it('[F53] servers end with the program, also when it exits without closing them', async () => {
  const { child, pids } = await programWithServer('process.exit(0)')
  expect(pids).toHaveLength(process.platform === 'linux' ? 4 : 2)
  await once(child, 'exit')
  await expect.poll(() => pids.filter(isRunning), { timeout: 15_000 }).toEqual([])
})

it('[F53] nothing is left when the program is killed: no server that ignores it, no child that left the session', async () => {
  const { child, pids } = await programWithServer('setInterval(() => {}, 1_000)')
  const watchdogs = processesWith('toolpost-watchdog').filter(pid => parentOf(pid) === child.pid)
  expect(pids.every(isRunning)).toBe(true)
  expect(watchdogs).toHaveLength(process.platform === 'linux' ? 1 : 0)
  child.kill('SIGKILL')
  await expect.poll(() => [...pids, ...watchdogs].filter(isRunning), { timeout: 15_000 }).toEqual([])
})

it.runIf(process.platform === 'linux')(
  '[F53] what left a server that died by itself, its session and its environment is ended if it was seen before',
  async () => {
    const script = 'env -i setsid sleep 1000 & echo $!; wait'
    const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const group = adoptGroup(leader.pid as number, newMark())
    const [output] = await once(leader.stdout, 'data')
    const child = Number(String(output))
    lookAt(group)
    leader.kill('SIGKILL')
    await once(leader, 'exit')
    expect(isRunning(child)).toBe(true)
    expect(await unharmed(() => endGroup(group))).toEqual([])
    expect(isRunning(child)).toBe(false)
  },
)

function processesWith(text: string): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  return pids.filter(pid => procFile(pid, 'cmdline').includes(text))
}

function parentOf(pid: number): number {
  const stat = procFile(pid, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
