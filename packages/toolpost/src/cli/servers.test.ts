import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'

const { folder, toolpost, configFile } = commandLine()

/** Quick to fail, so that a test need not wait for the usual delays. */
const mcp = { retry: { attempts: 2, baseDelayMs: 10 }, connectTimeoutMs: 10_000 }
const broken = { command: process.execPath, args: ['-e', 'console.error("no such broker"); process.exit(3)'] }

describe('servers on the command line', () => {
  it('a server that hangs or fails holds up no tool of another, and is not spoken of', async () => {
    const hangs = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }
    const main = '@modelcontextprotocol/server-memory/dist/index.js'
    const memory = { command: process.execPath, args: [createRequire(import.meta.url).resolve(main)] }
    const slowly = { retry: { attempts: 3, baseDelayMs: 2_000 } }
    const config = configFile({ mcp: slowly, mcpServers: { broken, memory, hangs } })
    const [called, listed, failed] = await Promise.all([
      toolpost(['call', 'read_graph', '--config', config]),
      toolpost(['tools', '--config', config]),
      toolpost(['tools', 'broken', '--config', config]),
    ])
    expect(failed).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^Server 'broken' has no tools: /m),
    })
    expect(called).toMatchObject({ code: 0, err: '' })
    expect(listed.code).toBe(0)
    expect(listed.out).toContain('echo(')
    expect(listed.err).toContain("Server 'hangs' is still starting; to wait for it: toolpost tools hangs\n")
  })

  it('a call that runs out of time while its server starts says so, and not that there is no such tool', async () => {
    const slow = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }
    const config = configFile({ mcpServers: { slow } })
    const { code, err } = await toolpost(['call', 'slow.wanted', '--timeout', '300', '--config', config])
    const cause = "  Cause: Server 'slow' is still starting\n"
    expect({ code, err }).toEqual({
      code: 1,
      err: `Error: Tool 'slow.wanted' timed out after 300 ms\n${cause}`,
    })
  })
})

describe('toolpost doctor', () => {
  it('prints one verdict per line, exit 0 if everything works', async () => {
    const { code, out } = await toolpost(['doctor'])
    expect(code).toBe(0)
    expect(out).toMatch(/^✔ config +built-in example$/m)
    expect(out).toMatch(/^✔ broker +mqtt:\/\/127\.0\.0\.1:\d+, embedded, with a virtual home$/m)
    expect(out).toMatch(/^✔ chat +\S+: /m)
    expect(out).toMatch(/^✔ zwave +ready, 7 tools: /m)
  })

  it('says what does not work and what to do, exit 1', async () => {
    const env = { MQTT_BROKER_URL: 'mqtt://user:hunter22@127.0.0.1:9' }
    const config = configFile({ mcp, mcpServers: { files: { ...broken, env } } })
    const { code, out } = await toolpost(['doctor', '--config', config])
    expect(code).toBe(1)
    expect(out).toMatch(/^✘ files +failed after 1 attempt: /m)
    expect(out).toMatch(/^ {4}stderr: no such broker$/m)
    expect(out).toMatch(/^ {4}Check: '.*' is installed, and 'args', 'env' and 'cwd' of 'files' are correct$/m)
    expect(out).not.toContain('hunter22')
  })

  it('does not approve what the configuration has and cannot work', async () => {
    const tools = [
      { name: 'lost', description: 'd', implementation: { type: 'builtin', handler: 'math_evil' } },
      { name: 'host', description: 'd', implementation: { type: 'internal', handler: 'ledger' } },
    ]
    const config = configFile({ model: 'offline', documents: './nowhere', tools })
    const { code, out, err } = await toolpost(['doctor', '--config', config])
    expect({ code, err }).toEqual({ code: 1, err: '' })
    const failed = out.split('\n').filter(line => line.startsWith('✘'))
    expect(failed).toEqual([
      `✘ documents  The documents folder '${join(folder, 'nowhere')}' does not exist: create it, or set "documents" in the configuration to another folder`,
      "✘ tool lost  builtin handler 'math_evil' not found",
      "✘ tool host  internal handler 'ledger' not found",
    ])
  })
})
