import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { harnessFor, startHostile, startServers } from '../../test/hostile-server/harness.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { McpIntegration } from './mcp-integration.ts'

const never = { crashes: 1_000, stderr: 'Cannot reach the broker' }

const boom = (): never => {
  throw new Error('boom')
}

describe('the first connection', () => {
  it('leaves no connection to an HTTP server that never answers, neither after a failure nor after close', async () => {
    const sockets = new Set<Socket>()
    let connections = 0
    const mute = createServer(socket => {
      connections++
      sockets.add(socket.resume())
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/mcp`
    const options = { retry: { attempts: 2, baseDelayMs: 1 }, connectTimeoutMs: 200 }
    const server = await startServers({ mute: { url } }, options)
    expect(server.status()).toMatchObject({ state: 'failed', attempts: 2 })
    expect(connections).toBeGreaterThanOrEqual(2)
    await server.mcp.close()
    // Node's fetch keeps an idle connection for four seconds.
    await expect.poll(() => sockets.size).toBe(0)

    const closed = new McpIntegration({ servers: { mute: { url } } })
    closed.start(new ToolManager())
    await expect.poll(() => sockets.size).toBe(1)
    await closed.close()
    await expect.poll(() => sockets.size).toBe(0)
    mute.close()
  })

  it.each([
    ['throws', () => boom()],
    ['rejects', async () => boom()],
  ])('is not harmed by an onReport that %s', async (_how, onReport) => {
    const log = recordingLogger()
    const options = { servers: { broken: hostileServer(never) }, retry: { attempts: 1 } }
    const mcp = new McpIntegration({ ...options, logger: log, onReport })
    mcp.start(new ToolManager())
    await mcp.ready()
    await log.logged('onReport failed')
    await mcp.close()
  })

  it('says in words that a command or its folder does not exist', async () => {
    const servers = {
      command: { command: 'toolpost-no-such-command' },
      folder: { command: process.execPath, cwd: '/no/such/folder' },
    }
    await using server = await startServers(servers, { retry: { attempts: 1 } })
    expect(server.mcp.status().map(({ error }) => error)).toEqual([
      "'toolpost-no-such-command' cannot be started: command not found",
      "its working directory '/no/such/folder' does not exist",
    ])
  })

  it('is not begun for an entry that cannot be used, and says why', () => {
    const make = (entry: object) => () => new McpIntegration({ servers: { mine: entry as never } })
    for (const entry of [{}, { command: '' }, { command: 'x', url: 'http://localhost' }, { command: 5 }]) {
      expect(make(entry)).toThrow("MCP server 'mine' needs either 'command' or 'url', as a string")
    }
    for (const url of [
      'nowhere',
      '',
      'localhost:3000/mcp',
      'ftp://host/',
      'file:///etc/passwd',
      'http:///mcp',
    ]) {
      expect(make({ url })).toThrow(
        `MCP server 'mine': '${url}' is not a valid URL; expected http:// or https://`,
      )
    }
    expect(make({ url: 'mcp://me:secret@host/' })).toThrow("'[removed]@host/' is not a valid URL")
    expect(make(null as never)).toThrow("MCP server 'mine' is not an object")
    expect(make({ command: 'x', env: { PORT: 3000 } })).toThrow(
      "MCP server 'mine': 'PORT' in 'env' is not a string",
    )
    const url = 'http://localhost/mcp'
    expect(make({ url, headers: { a: null } })).toThrow("'a' in 'headers' is not a string")
    expect(make({ url, headers: 'a: b' })).toThrow("'headers' is not an object")
  })
})

describe('later', () => {
  it('a failed server can be restarted by hand, and a ready one too', async () => {
    await using server = await startHostile({ crashes: 1 }, {}, { retry: { attempts: 1 } })
    expect(server.status().state).toBe('failed')
    await server.mcp.restart('hostile')
    const { state, pid, tools } = server.status()
    expect(state).toBe('ready')
    await server.mcp.restart('hostile')
    expect(server.status()).toMatchObject({ state: 'ready', tools })
    expect(server.status().pid).not.toBe(pid)
    expect(await server.executor.execute('echo', { text: 'again' })).toBe('again')
    await expect(server.mcp.restart('nobody')).rejects.toThrow("There is no MCP server 'nobody'")
  })

  it('a lost server is tried at once, then with growing delays, for ever; the same tool objects work again', async () => {
    const clock = fakeClock()
    await using server = await startHostile({ healthyStarts: 1 }, {}, { clock, retry: { attempts: 1 } })
    const tool = server.tools.findTool('echo')
    await server.executor.run({ name: 'die' })
    for (const [attempt, delay] of [
      [1, 0],
      [2, 250],
      [3, 500],
      [4, 1_000],
    ] as const) {
      await server.log.logged(`MCP connection attempt ${attempt} after ${delay} ms`, attempt === 1 ? 2 : 1)
      await server.log.logged(`MCP connection attempt ${attempt} failed`)
      await clock.advance(2 ** (attempt - 1) * 250)
    }
    expect(server.status().state).toMatch(/lost|starting/)
    expect(server.tools.findTool('echo')).toBe(tool)
    expect(server.log.messages('error')).not.toContain('MCP connection failed after 1 attempt')
  })

  it('a server that dies again and again after its handshake is not restarted in a tight loop', async () => {
    await using server = await startHostile()
    await server.executor.run({ name: 'die' })
    await server.log.logged('MCP connection succeeded', 2)
    await server.executor.run({ name: 'die' })
    await server.log.logged('MCP connection attempt 2 after 250 ms')
    await server.log.logged('MCP connection succeeded on attempt 2')
    expect(await server.executor.execute('echo', { text: 'back' })).toBe('back')
    await server.executor.run({ name: 'die' })
    await server.log.logged('MCP connection attempt 1 after 0 ms', 3)
  })

  it('close ends an attempt that is under way or waited for, and nothing starts afterwards', async () => {
    const clock = fakeClock()
    const server = harnessFor(
      { hanging: hostileServer({ neverShakesHands: true }), broken: hostileServer(never) },
      { clock },
    )
    await server.log.logged('MCP connection attempt 1 failed')
    await server.mcp.close()
    expect(server.mcp.status().map(({ state, error }) => [state, error])).toEqual([
      ['closed', 'it was closed'],
      ['closed', 'it was closed'],
    ])
    await clock.advance(60_000)
    expect(server.log.messages().filter(message => message.includes('attempt'))).toHaveLength(3)
    expect(clock.pending).toBe(0)
  })

  it('calls and restarts after close say so', async () => {
    const server = await startHostile()
    await server.mcp.close()
    await expect(server.mcp.restart('hostile')).rejects.toThrow('This McpIntegration is closed')
    expect(await server.executor.execute('echo', { text: 'hello' })).toBe(
      'Error: The hostile service is unavailable: it was closed',
    )
  })
})
