import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf } from '../../test/config-folder.ts'

const server = (command: string) => ({ mcpServers: { [command]: { command } } })

describe('included files', () => {
  it('bring their servers, and those that they include, relative to themselves; own ones come first', async () => {
    const folder = configFolder({
      'toolpost.json': { include: ['./a/one.json'], ...server('own') },
      'a/one.json': { include: ['../b/two.json'], ...server('one') },
      'b/two.json': { servers: { two: { command: 'two', cwd: 'here', args: ['${workspaceFolder}'] } } },
    })
    const { servers, notices, files } = await configOf(folder)
    expect(Object.keys(servers)).toEqual(['own', 'one', 'two'])
    expect(servers.two).toEqual({ command: 'two', cwd: join(folder, 'b', 'here'), args: [folder] })
    expect(notices).toEqual([])
    expect(files).toEqual(['toolpost.json', 'a/one.json', 'b/two.json'].map(name => join(folder, name)))
  })

  it('lose against own servers of the same name, and against files before them, with a line each', async () => {
    const folder = configFolder({
      'toolpost.json': {
        include: ['one.json', 'two.json'],
        mcpServers: { a: { command: 'own' }, off: { disabled: true } },
      },
      'one.json': { mcpServers: { a: { command: 'one' }, b: { command: 'one' }, off: { command: 'one' } } },
      'two.json': { mcpServers: { b: { command: 'two' } } },
    })
    const { servers, notices } = await configOf(folder)
    expect(servers).toEqual({ a: { command: 'own' }, b: { command: 'one' } })
    expect(notices).toEqual([
      "⚠️ one.json: skipping 'a', already defined in toolpost.json",
      "⚠️ one.json: skipping 'off', already defined in toolpost.json",
      "⚠️ two.json: skipping 'b', already defined in one.json",
    ])
  })

  it('[F59] bring nothing but servers: no policy, clients, gateway, limits, approvals or autoApprove', async () => {
    const folder = configFolder({
      'toolpost.json': { include: ['other.json'], policy: [{ tools: 'x', then: 'deny' }] },
      'other.json': {
        policy: [{ then: 'allow' }],
        clients: { evil: { token: 'a-token-of-a-test-20' } },
        gateway: { host: '0.0.0.0' },
        model: 'offline',
        mcpServers: { a: { command: 'x', autoApprove: ['delete_all'] } },
      },
    })
    const loaded = await configOf(folder)
    expect(loaded.config).toEqual({
      include: ['other.json'],
      policy: [{ tools: 'x', then: 'deny' }],
      mcpServers: { a: { command: 'x' } },
    })
    expect(loaded.notices).toEqual([
      '⚠️ other.json: only servers are included; ignoring policy, clients, gateway',
    ])
  })

  it('that do not exist are one line, and followed all the same', async () => {
    const folder = configFolder({ 'toolpost.json': { include: ['none/mcp.json'], ...server('own') } })
    const { servers, notices, files } = await configOf(folder)
    expect(Object.keys(servers)).toEqual(['own'])
    expect(notices).toEqual(['⚠️ toolpost.json: the included file none/mcp.json does not exist yet'])
    expect(files).toContain(join(folder, 'none', 'mcp.json'))
  })

  it.each([
    [
      { 'toolpost.json': { include: ['toolpost.json'] } },
      'toolpost.json:3:5, include[0]: includes itself: toolpost.json → toolpost.json',
    ],
    [
      {
        'toolpost.json': { include: ['a.json'] },
        'a.json': { include: ['b.json'] },
        'b.json': { include: ['./a.json'] },
      },
      'b.json:3:5, include[0]: includes itself: toolpost.json → a.json → b.json → ./a.json',
    ],
  ])('[F59] that include themselves are refused, with the chain', async (files, problem) => {
    await expect(configOf(configFolder(files))).rejects.toThrow(problem)
  })

  it('cost only the server whose entry has a mistake', async () => {
    const mcpServers = {
      bad: { command: 'x', args: 'y' },
      none: {},
      text: 'x',
      nothing: null,
      good: { command: 'x' },
    }
    const { brokenServers, servers } = await configOf(
      configFolder({ 'toolpost.json': { include: ['a.json'] }, 'a.json': { mcpServers } }),
    )
    expect(Object.keys(servers)).toEqual(Object.keys(mcpServers))
    expect(brokenServers).toEqual({
      bad: "a.json:3:12, mcpServers.bad: 'args' must be array, got string",
      none: "a.json:7:13, mcpServers.none: has neither 'command' nor 'url'; set exactly one",
      text: 'a.json:8:13, mcpServers.text: must be object, got string',
      nothing: 'a.json:9:16, mcpServers.nothing: must be object, got null',
    })
  })

  it('[F59] that have Toolpost itself as a server do not start it again', async () => {
    const folder = configFolder({
      'toolpost.json': { include: ['cursor.json'], gateway: { port: 5050 } },
      'cursor.json': {
        mcpServers: {
          a: { command: 'toolpost', args: ['serve', '--stdio'] },
          b: { command: 'npx', args: ['-y', 'toolpost@0.1', 'serve', '--stdio'] },
          c: { command: 'node', args: ['/x/node_modules/toolpost/bin/toolpost.cjs', 'serve', '--stdio'] },
          d: { url: 'http://127.0.0.1:5050/mcp' },
          e: { url: 'http://127.0.0.1:5051/mcp' },
          f: { command: 'toolpost-like', args: ['serve'] },
        },
      },
    })
    const { servers, notices } = await configOf(folder)
    expect(Object.keys(servers)).toEqual(['e', 'f'])
    expect(notices[0]).toBe("⚠️ cursor.json: skipping 'a', which is Toolpost itself")
    expect(notices).toHaveLength(4)
  })
})
