import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { ToolManager } from '../../tools/tool-manager.ts'
import { listTools } from './tools.ts'

it.each([true, false])(
  '[F33] shows what a server says of its tools without obeying it, TTY: %s',
  async isTTY => {
    const tools = new ToolManager()
    const schema = { type: 'object', properties: { 'size\u001b[3J': { type: 'string' } } }
    const invoke = () => 'done'
    tools.addMcpTools(
      [{ name: 'lamp\u001b[2K', description: 'Light\u001b]0;x\u0007\n\u001b[2J', schema, invoke }],
      {
        server: 'home\u001b[1A',
      },
    )
    const project = {
      tools,
      config: {},
      file: undefined,
      status: () => ({ servers: [], problem: undefined, model: undefined, voice: [] }),
      tried: async () => {},
      waitForTool: async () => {},
    }
    const context = { project, stop: new AbortController() }
    const out = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream
    expect(await listTools({ ...context, terminal: { out, err: out } }, {})).toBe(0)
    const written = String(out.read()).replace(/\u001b\[\d+m/g, '')
    expect(written).not.toContain('\u001b')
    expect(written).toContain('Light\\u001b]0;x\\u0007 \\u001b[2J\n')
    if (isTTY) return expect(written).toMatch(/^home\\u001b\[1A \(1\)\n {2}lamp\\u001b\[2K {2,}Light/)
    expect(written).toMatch(/^lamp\\u001b\[2K\(.*size\\u001b\[3J/)
    expect(written).toContain(' (from home\\u001b[1A)\n    Light')
  },
)
