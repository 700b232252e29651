import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import type { ServerStatus } from '../../mcp/index.ts'
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
    const servers = [{ name: 'home\u001b[1A', state: 'ready' }] as ServerStatus[]
    const project = {
      tools,
      config: {},
      file: undefined,
      status: () => ({ servers, problem: undefined, model: undefined, voice: [] }),
      on: () => () => {},
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

it('shows on a terminal what is there at once, and a server when it comes, whoever still starts', async () => {
  const tools = new ToolManager()
  const tool = (name: string) => ({
    name,
    description: 'Works',
    schema: { type: 'object' },
    invoke: () => '',
  })
  tools.addCustomTool(tool('clock'))
  const servers = ['slow', 'quick'].map(name => ({ name, state: 'starting' })) as ServerStatus[]
  let tell = () => {}
  let end = () => {}
  const project = {
    tools,
    config: {},
    file: 'toolpost.json',
    status: () => ({ servers, problem: undefined, model: undefined, voice: [] }),
    on: (_event: string, listener: () => void) => {
      tell = listener
      return () => {}
    },
    tried: () =>
      new Promise<void>(resolve => {
        end = resolve
      }),
    waitForTool: async () => {},
  } as unknown as Parameters<typeof listTools>[0]['project']
  const out = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream
  const err = new PassThrough() as unknown as NodeJS.WriteStream
  const written = () => String(out.read() ?? '').replace(/\u001b\[\d+m/g, '')
  const listed = listTools({ project, stop: new AbortController(), terminal: { out, err } }, {})
  expect(written()).toMatch(/^local \(1\)\n {2}clock +Works\n\n$/)
  tools.addMcpTools([tool('lamp')], { server: 'quick' })
  Object.assign(servers[1] as object, { state: 'ready' })
  tell()
  expect(written()).toMatch(/^quick \(1\)\n {2}lamp +Works\n\n$/)
  end()
  expect(await listed).toBe(0)
  expect(written()).toMatch(/^toolpost tools NAME/)
  expect(String(err.read())).toContain("Server 'slow' is still starting")
})
