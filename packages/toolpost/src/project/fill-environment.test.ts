import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf } from '../../test/config-folder.ts'

/** A configuration as it would be read from a file, and filled in. */
async function fill(config: object, environment: Record<string, string> = { URL: 'mqtt://x', KEY: 'k' }) {
  const folder = configFolder({ 'toolpost.json': config })
  return { folder, ...(await configOf(folder, environment)) }
}

describe('variables in the values of servers', () => {
  it('are filled in from the environment, everywhere', async () => {
    const server = {
      command: 'run-${KEY}',
      args: ['--url', '${URL}/${KEY}', '${NONE:-default}'],
      env: { A: '${env:URL}', B: 'plain', C: 5 as never },
      cwd: './here',
    }
    const home = await fill({ mcpServers: { home: server } })
    expect(home.config.mcpServers?.home).toEqual({
      command: 'run-k',
      args: ['--url', 'mqtt://x/k', 'default'],
      env: { A: 'mqtt://x', B: 'plain', C: '5' },
      cwd: join(home.folder, 'here'),
    })
    const remote = { url: 'http://${KEY}', headers: { Authorization: 'Bearer ${KEY}' } }
    expect((await fill({ mcpServers: { remote } })).config.mcpServers?.remote).toEqual({
      url: 'http://k',
      headers: { Authorization: 'Bearer k' },
    })
  })

  it('that are missing break only the server that wants them, and name variable, file and place', async () => {
    const config = {
      mcpServers: { home: { command: 'x', env: { A: '${MISSING}' } }, other: { command: 'y' } },
    }
    expect((await fill(config)).brokenServers).toEqual({
      home: 'toolpost.json:6:14, mcpServers.home.env.A: the environment variable MISSING is not set',
    })
  })

  it('are filled in for a login too, whose numbers stay numbers; one that cannot be made is said', async () => {
    const url = 'https://x.example/mcp'
    const oauth = { clientId: 'me', clientSecret: '${KEY}', redirectPort: 8080 }
    const filled = await fill({ mcpServers: { remote: { url, oauth }, open: { url, oauth: false } } })
    expect(filled.config.mcpServers).toEqual({
      remote: { url, oauth: { clientId: 'me', clientSecret: 'k', redirectPort: 8080 } },
      open: { url, oauth: false },
    })
    const robot = { url, oauth: { grant: 'client_credentials' as const, clientId: 'me' } }
    await expect(fill({ mcpServers: { robot } })).rejects.toThrow(
      "'oauth' with client_credentials needs 'clientId', and 'clientSecret' or 'privateKey'",
    )
  })
})
