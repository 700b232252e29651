import { describe, expect, it, vi } from 'vitest'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { valueOfResult } from './call-result.ts'
import { McpIntegration } from './mcp-integration.ts'

/** Throws whatever is asked of it. */
const unprintable = () =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('not even this')
      },
    },
  )

describe('odd servers and listeners', () => {
  it('[F52] a listener that throws what cannot be shown harms nobody', async () => {
    const logger = recordingLogger()
    const mcp = new McpIntegration({ servers: { odd: hostileServer() }, logger })
    mcp.on('server', () => {
      throw unprintable()
    })
    mcp.start(new ToolManager())
    await mcp.ready()
    await vi.waitFor(() =>
      expect(logger.at('warn').map(({ message }) => message)).toContain('A listener for MCP servers failed'),
    )
    await mcp.close()
  })

  it('a server whose first line begins with a byte order mark is understood', async () => {
    const { command, args } = hostileServer()
    const [file, settings] = args.map(arg => JSON.stringify(arg))
    const script = `process.argv[2] = ${settings}; process.stdout.write('\\ufeff'); import(${file})`
    const mcp = new McpIntegration({ servers: { odd: { command, args: ['-e', script] } } })
    mcp.start(new ToolManager())
    await mcp.ready()
    expect(mcp.status()).toMatchObject([{ state: 'ready', junkLines: 0 }])
    await mcp.close()
  })

  it('an isError of the wrong type still says that the tool failed', () => {
    const content = [{ type: 'text', text: 'no luck' }]
    expect(() => valueOfResult({ isError: 'yes', content })).toThrow('no luck')
    expect(valueOfResult({ isError: false, content })).toBe('no luck')
  })
})
