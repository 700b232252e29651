import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'

/** Writes its environment and its arguments to stderr, stdout, descriptions, results and errors. */
const SERVER = fileURLToPath(new URL('../../test/telling-server.mjs', import.meta.url))
const { toolpost, configFile } = commandLine()

const server = (more: Record<string, string> = {}) => ({
  command: process.execPath,
  args: [SERVER, '--password', 'canary-01', '--token=canary-02', 'postgres://me:canary-03@db/x'],
  env: {
    OPENAI_API_KEY: 'canary-04',
    GITHUB_PAT: 'canary-05',
    MY_PASSWORD: 'with "quotes" canary-06',
    BROKER: 'mqtt://me:canary-07@127.0.0.1:9',
    UNNAMED: 'k3Jx9Qmcanary082Lw8Zt5Rv',
    HOUSE_CODE: 'canary-09',
    ...more,
  },
})

describe('[F34] the command line shows no secret of a server', () => {
  const log = { level: 'debug', secrets: ['houseCode'] }
  const mcp = { retry: { attempts: 1 } }

  it.each([
    ['call', 'fail'],
    ['call', 'refuse'],
    ['call', 'leave'],
    ['tools', '--json'],
  ])('that is ready: %s %s', async (...words) => {
    const config = configFile({ mcpServers: { told: server() }, mcp, log })
    const { out, err } = await toolpost([...words, '--config', config])
    expect(out + err).toContain('OPENAI_API_KEY=[removed]')
    expect(out + err).not.toMatch(/canary/)
  })

  it('that does not start', async () => {
    const remote = {
      url: 'http://me:canary-10@127.0.0.1:9/s/k3Jx9Qmcanary112Lw8Zt5Rv/mcp?api_key=canary-12',
      headers: { Authorization: 'Bearer canary-13', 'X-Other': 'k3Jx9Qmcanary142Lw8Zt5Rv' },
    }
    const mcpServers = { left: server({ TELL_AND_LEAVE: '1' }), remote }
    const { out, err } = await toolpost(['doctor', '--config', configFile({ mcpServers, mcp, log })])
    expect(out).toMatch(/left +failed[\s\S]*remote +failed/)
    expect(out + err).toContain('OPENAI_API_KEY=[removed]')
    expect(out + err).not.toMatch(/canary/)
  })
})

it('[F34] the log shows no secret of arguments and results, and the caller gets them unchanged', async () => {
  const secret = { password: 'canary-15', text: 'Bearer canary-16', nested: { api_key: 'canary-17' } }
  const args = { ...secret, room: 'hall' }
  const { out, err } = await toolpost(['call', 'echo', JSON.stringify(args), '--log-level', 'info'])
  expect(JSON.parse(out)).toEqual({ echo: args })
  const shown = { password: '[removed]', text: '[removed]', nested: { api_key: '[removed]' }, room: 'hall' }
  const record = { level: 'info', tool: 'echo', args: shown, result: { echo: shown }, msg: 'Tool call' }
  expect(JSON.parse(err)).toMatchObject({ ...record, duration_ms: expect.any(Number) })
})
