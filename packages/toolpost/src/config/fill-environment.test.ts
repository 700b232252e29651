import { describe, expect, it } from 'vitest'
import { fillEnvironment } from './fill-environment.ts'

const source = { file: 'toolpost.json', folder: '/home/me', environment: { URL: 'mqtt://x', KEY: 'k' } }

describe('variables in the values of servers', () => {
  it('are filled in from the environment, everywhere', () => {
    const server = {
      command: 'run-${KEY}',
      args: ['--url', '${URL}/${KEY}', '${NONE:-default}'],
      env: { A: '${env:URL}', B: 'plain', C: 5 as never },
      cwd: './here',
    }
    expect(fillEnvironment({ mcpServers: { home: server } }, source).mcpServers?.home).toEqual({
      command: 'run-k',
      args: ['--url', 'mqtt://x/k', 'default'],
      env: { A: 'mqtt://x', B: 'plain', C: '5' },
      cwd: '/home/me/here',
    })
    const remote = { url: 'http://${KEY}', headers: { Authorization: 'Bearer ${KEY}' } }
    expect(fillEnvironment({ mcpServers: { remote } }, source).mcpServers?.remote).toEqual({
      url: 'http://k',
      headers: { Authorization: 'Bearer k' },
    })
  })

  it('that are missing are an error that names variable, file and place', () => {
    const config = { mcpServers: { home: { command: 'x', env: { A: '${MISSING}' } } } }
    expect(() => fillEnvironment(config, source)).toThrow(
      'toolpost.json, mcpServers.home.env.A: the environment variable MISSING is not set',
    )
  })

  it('of a server that is switched off are not asked for', () => {
    const config = { mcpServers: { home: { command: '${MISSING}', disabled: true } } }
    expect(fillEnvironment(config, source)).toEqual({ mcpServers: {} })
  })
})
