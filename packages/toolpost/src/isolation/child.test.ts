import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compiledFile } from '../runtime/package-root.ts'

/** What the isolated function does when it is connected: return, spin, or wait for data. */
type Mode = 'return' | 'spin' | 'wait'

// Every child connects here. The connection closes when the process is gone, whatever it was doing.
const server = createServer()
let port: number
let parent: ChildProcess
let child: Socket

// The interval keeps the process alive where nothing ends it.
const childCode = `import { connect } from 'node:net'
setInterval(() => {}, 1e6)
export const f = ({ port, mode }) => new Promise(resolve => {
  const socket = connect(port, '127.0.0.1', () => {
    if (mode === 'spin') for (;;);
    if (mode === 'return') resolve()
  })
  socket.once('data', resolve).on('error', () => {}).unref()
})`

/** Starts a program that calls an isolated function, then does what `after` says; waits until the child works. */
async function start(mode: Mode, after: string): Promise<void> {
  const code = `import { isolate } from ${JSON.stringify(compiledFile('isolation/isolated-function.js').href)}
    const module = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(childCode)}`)}
    const call = isolate({ module, export: 'f' })({ port: ${port}, mode: '${mode}' })
    ${after}`
  parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const [socket] = (await once(server, 'connection')) as [Socket]
  child = socket.on('error', () => {}).resume()
}

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  parent.kill('SIGKILL')
  child.destroy()
  await new Promise(closed => server.close(closed))
})

describe('the life of a child', () => {
  it('does not keep its parent alive when it is idle, and ends with it', async () => {
    await start('return', 'await call')
    const [[code]] = await Promise.all([once(parent, 'exit'), once(child, 'close')])
    expect(code).toBe(0)
  })

  it('keeps its parent alive while a call is under way', async () => {
    await start('wait', 'await call')
    child.write('go on')
    const [code] = await once(parent, 'exit')
    expect(code, '13 is what Node says when nothing keeps it alive').toBe(0)
  })

  it('ends when the parent exits under a call that spins', async () => {
    await start('spin', `process.stdin.once('data', () => process.exit(0))`)
    parent.stdin?.write('exit')
    await Promise.all([once(parent, 'exit'), once(child, 'close')])
  })

  it.each<Mode>(['spin', 'wait', 'return'])('ends when the parent is killed (mode: %s)', async mode => {
    await start(mode, 'setInterval(() => {}, 1e6)')
    parent.kill('SIGKILL')
    await once(child, 'close')
  })
})
