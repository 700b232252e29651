import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'

const { folder, toolpost, configFile } = commandLine()

/** Quick to fail, so that a test need not wait for the usual delays. */
const mcp = { retry: { attempts: 2, baseDelayMs: 10 }, connectTimeoutMs: 10_000 }
const broken = { command: process.execPath, args: ['-e', 'console.error("no such broker"); process.exit(3)'] }

describe('servers on the command line', () => {
  it('a server that hangs or fails holds up no tool of another, and is not spoken of', async () => {
    const hangs = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }
    const memory = {
      command: process.execPath,
      args: [
        fileURLToPath(
          new URL(
            '../../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js',
            import.meta.url,
          ),
        ),
      ],
    }
    const config = configFile({
      mcp: { retry: { attempts: 3, baseDelayMs: 2_000 } },
      mcpServers: { broken, memory, hangs },
    })
    const [called, listed] = await Promise.all([
      toolpost(['call', 'read_graph', '--config', config]),
      toolpost(['tools', '--config', config]),
    ])
    expect(called).toMatchObject({ code: 0, err: '' })
    expect(listed.code).toBe(0)
    expect(listed.out).toContain('echo(')
    expect(listed.err).toContain("Server 'hangs' is still starting; to wait for it: toolpost tools hangs\n")
  })

  it.each(['slow.wanted'])(
    'a call of %s that runs out of time while its server starts says so, and not that there is no such tool',
    async name => {
      const slow = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60_000)'] }
      const config = configFile({ mcpServers: { slow } })
      const { code, err } = await toolpost(['call', name, '--timeout', '300', '--config', config])
      expect({ code, err }).toEqual({
        code: 1,
        err: `Error: Tool '${name}' timed out after 300 ms\n  Cause: Server 'slow' is still starting\n`,
      })
    },
  )
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
    const { code, out } = await toolpost([
      'doctor',
      '--config',
      configFile({ mcp, mcpServers: { files: { ...broken, env } } }),
    ])
    expect(code).toBe(1)
    expect(out).toMatch(/^✘ files +failed after 1 attempt: /m)
    expect(out).toMatch(/^ {4}stderr: no such broker$/m)
    expect(out).toMatch(/^ {4}Check: '.*' is installed, and 'args', 'env' and 'cwd' of 'files' are correct$/m)
    expect(out).not.toContain('hunter22')
  })

  const declared = (name: string, rest: object) => ({
    name,
    description: 'Does something',
    parameters: { type: 'object', properties: { place: { type: 'string' } } },
    implementation: { type: 'mock', mock_response: 1 },
    ...rest,
  })

  it('does not approve what the configuration has and cannot work', async () => {
    const config = configFile({
      model: 'offline',
      documents: './nowhere',
      tools: [
        declared('lost', { implementation: { type: 'builtin', handler: 'math_evil' } }),
        declared('host', { implementation: { type: 'internal', handler: 'ledger' } }),
      ],
    })
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
