import { describe, expect, it } from 'vitest'
import { ConfigSource } from './config-source.ts'
import { fillEnvironment } from './fill-environment.ts'

const text = new ConfigSource('toolpost.json', '{}')
const source = { text, folder: '/home/me', environment: { URL: 'mqtt://x', KEY: 'k' } }

describe('variables in the values of servers', () => {
  it('are filled in from the environment, everywhere', () => {
    const server = {
      command: 'run-${KEY}',
      args: ['--url', '${URL}/${KEY}', '${NONE:-default}'],
      env: { A: '${env:URL}', B: 'plain', C: 5 as never },
      cwd: './here',
    }
    expect(fillEnvironment({ mcpServers: { home: server } }, source).config.mcpServers?.home).toEqual({
      command: 'run-k',
      args: ['--url', 'mqtt://x/k', 'default'],
      env: { A: 'mqtt://x', B: 'plain', C: '5' },
      cwd: '/home/me/here',
    })
    const remote = { url: 'http://${KEY}', headers: { Authorization: 'Bearer ${KEY}' } }
    expect(fillEnvironment({ mcpServers: { remote } }, source).config.mcpServers?.remote).toEqual({
      url: 'http://k',
      headers: { Authorization: 'Bearer k' },
    })
  })

  it('that are missing break only the server that wants them, and name variable, file and place', () => {
    const config = {
      mcpServers: { home: { command: 'x', env: { A: '${MISSING}' } }, other: { command: 'y' } },
    }
    const text = new ConfigSource('toolpost.json', JSON.stringify(config, null, 2))
    expect(fillEnvironment(config, { ...source, text }).brokenServers).toEqual({
      home: 'toolpost.json:6:14, mcpServers.home.env.A: the environment variable MISSING is not set',
    })
  })

  it.each([
    ['', "''"],
    ['localhost:3000/mcp', "'localhost:3000/mcp'"],
    ['http//user:pw@host', "'[removed]@host'"],
  ])('that make %j of a url are said to be no URL', (value, shown) => {
    const filled = fillEnvironment(
      { mcpServers: { remote: { url: '${ADDRESS}' } } },
      { ...source, environment: { ADDRESS: value } },
    )
    expect(filled.brokenServers.remote).toBe(
      `toolpost.json:1:1, mcpServers.remote: 'url' is not a valid URL: ${shown}; expected http://… or https://…`,
    )
  })

  it('are filled in for a login too, whose numbers stay numbers; one that cannot be made is said', () => {
    const url = 'https://x.example/mcp'
    const oauth = { clientId: 'me', clientSecret: '${KEY}', redirectPort: 8080 }
    const filled = fillEnvironment(
      { mcpServers: { remote: { url, oauth }, open: { url, oauth: false } } },
      source,
    )
    expect(filled.config.mcpServers).toEqual({
      remote: { url, oauth: { clientId: 'me', clientSecret: 'k', redirectPort: 8080 } },
      open: { url, oauth: false },
    })
    const robot = { url, oauth: { grant: 'client_credentials' as const, clientId: 'me' } }
    expect(fillEnvironment({ mcpServers: { robot } }, source).brokenServers.robot).toContain(
      "'oauth' with client_credentials needs 'clientId', and 'clientSecret' or 'privateKey'",
    )
  })

  it('of a server that is switched off are not asked for', () => {
    const config = { mcpServers: { home: { command: '${MISSING}', disabled: true } } }
    expect(fillEnvironment(config, source)).toEqual({ config: { mcpServers: {} }, brokenServers: {} })
  })
})
