import { afterEach, describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { silentLogger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { openProject, type Project } from './index.ts'
import { makeToken, stateFolder } from './local-state.ts'

const { configFile } = commandLine()
const opened: Project[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(project => project.close()))
})

async function open(config: object): Promise<Project> {
  const project = await openProject({ file: configFile(config), logger: () => silentLogger, say: () => {} })
  opened.push(project)
  return project
}

describe('the breaker of a project', () => {
  /** For a call that has to be answered: the server's own 20 ms are for those that never are. */
  const echo = (project: Project) =>
    project.executor.run({ name: 'hostile__echo', args: { text: 'x' } }, { timeoutMs: 10_000 })
  const shown = (project: Project) => project.status().servers[0]?.breaker

  it('is on for servers: shown in the status, told of, and closed again when the server was restarted', async () => {
    const project = await open({ mcpServers: { hostile: { ...hostileServer(), timeoutMs: 20 } } })
    await project.ready()
    expect(shown(project)).toEqual({ state: 'closed', failures: 0 })
    const told: ServerStatus[] = []
    project.on('server', status => told.push(status))
    for (let n = 0; n < 5; n++) await project.executor.run({ name: 'never' })
    expect(shown(project)).toMatchObject({ state: 'open', failures: 5, retryAt: expect.any(String) })
    expect(told.at(-1)).toMatchObject({ name: 'hostile', breaker: { state: 'open' } })
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ success: true })
    expect(await echo(project)).toMatchObject({
      code: 'unavailable',
      error: expect.stringMatching(
        /the last 5 calls to server 'hostile' failed, so calls are paused; next attempt in \d+ s$/,
      ),
    })
    await project.restart('hostile')
    expect(shown(project)).toEqual({ state: 'closed', failures: 0 })
    expect(await echo(project)).toMatchObject({ success: true })
  })
})

it('a policy that names tools that are not there is warned about once, when the servers are ready', async () => {
  const policy = [
    { tools: 'write', then: 'deny' },
    { tools: ['echo', 'wriet'], then: 'ask' },
    { tools: 'fs__*', then: 'deny' },
    { after: ['web__*'], then: 'deny' },
    { after: 'outside', then: 'allow' },
  ]
  const limits = { tools: { serach: { concurrency: 1 } } }
  const said: string[] = []
  const file = configFile({ mcpServers: { hostile: hostileServer() }, policy, limits })
  const project = await openProject({ file, say: text => void said.push(text) })
  opened.push(project)
  expect(said).toEqual([])
  await project.ready()
  await project.ready()
  expect(said).toEqual([
    "⚠️ policy[1] names 'wriet', but there is no such tool (yet)",
    "⚠️ policy[2] names 'fs__*', but there is no such tool (yet)",
    "⚠️ policy[3] names 'web__*', but there is no such tool (yet)",
    "⚠️ limits.tools names 'serach', but there is no such tool (yet)",
  ])
})

it('a new token is a secret at once', async () => {
  const file = configFile({ mcpServers: { hostile: hostileServer() } })
  const project = await openProject({ file })
  opened.push(project)
  await project.ready()
  const token = makeToken(stateFolder(file))
  project.guardNewToken()
  expect(await project.executor.run({ name: 'hostile__echo', args: { text: token } })).toMatchObject({
    code: 'denied',
    error: expect.stringContaining('the secret .toolpost/token'),
  })
})

it('what ran before is not forgotten when the configuration is reloaded', async () => {
  const file = configFile({
    local: ['echo', 'datetime'],
    policy: [{ tools: 'echo', after: ['datetime'], then: 'deny' }],
  })
  const project = await openProject({ file })
  opened.push(project)
  const echo = () => project.executor.run({ name: 'echo', args: {} })
  expect(await echo()).toMatchObject({ success: true })
  expect(await project.executor.run({ name: 'datetime', args: {} })).toMatchObject({ success: true })
  expect(await echo()).toMatchObject({ code: 'denied' })
  await project.reload()
  expect(await echo()).toMatchObject({ code: 'denied' })
})
