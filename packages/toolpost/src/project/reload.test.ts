import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configFolder, writeFiles } from '../../test/config-folder.ts'
import { closedGate, gatedServer } from '../../test/gated-server.ts'
import { isRunning } from '../../test/hostile-server/harness.ts'
import { createGateway } from '../gateway/gateway.ts'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from './open-project.ts'

const PATIENCE = { interval: 10, timeout: 15_000 }

const greeting = (text: string) => ({
  name: 'greet',
  description: 'Greets',
  implementation: { type: 'mock' as const, mock_response: text },
})

/** A project of a folder, with what it said. */
async function open(config: object, files: Record<string, unknown> = {}) {
  const folder = configFolder({ 'toolpost.json': config, ...files })
  const said: string[] = []
  const project = await openProject({
    file: join(folder, 'toolpost.json'),
    logger: () => silentLogger,
    say: text => said.push(text),
  })
  onTestFinished(() => project.close())
  const write = (changed: Record<string, unknown>) => writeFiles(folder, changed)
  return { project, folder, said, write, rewrite: (next: object) => write({ 'toolpost.json': next }) }
}

describe('reload', () => {
  it('starts, ends and restarts the servers that were added, removed and changed, and says which', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(label => gatedServer(label))
    const { project, rewrite, said } = await open({ mcpServers: { a, b, c } })
    const pids = (await project.ready()).map(({ pid }) => pid ?? 0)
    rewrite({ mcpServers: { a, b: { ...b, env: { X: '1' } }, d: gatedServer('d', '', 'x') } })
    expect(await project.reload()).toEqual({ added: ['d'], removed: ['c'], changed: ['b'], unchanged: ['a'] })
    expect(said).toEqual(['Configuration reloaded: added d; restarted b; removed c'])
    const after = await project.ready()
    expect(after.map(({ name, state }) => `${name} ${state}`)).toEqual(['a ready', 'b ready', 'd ready'])
    expect(after[0]?.pid).toBe(pids[0])
    await expect.poll(() => pids.slice(1).filter(isRunning), PATIENCE).toEqual([])
  })

  it('lets tools, policy, limits and what is remembered follow; the counts of unchanged limits stay', async () => {
    const limits = { tools: { echo: { perMinute: 1 } } }
    const { project, rewrite, write } = await open({ tools: [greeting('hi')], limits })
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ success: true })
    rewrite({ tools: [greeting('hello')], limits, policy: [{ tools: 'datetime', then: 'deny' }] })
    await project.reload()
    expect(await project.executor.execute('greet')).toBe('hello')
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ code: 'limited' })
    expect(await project.executor.run({ name: 'datetime' })).toMatchObject({ code: 'denied' })
    rewrite({ policy: [{ tools: 'datetime', then: 'ask' }] })
    write({ 'toolpost.approvals.json': { rules: [{ tools: 'datetime', then: 'allow' }] } })
    await project.reload()
    expect(await project.executor.run({ name: 'datetime' })).toMatchObject({ success: true })
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ success: true })
    expect(project.tools.findTool('greet')).toBeUndefined()
  })

  it('says what takes effect only after a restart', async () => {
    const { project, rewrite, said } = await open({})
    const changed = { gateway: { port: 5000 }, executor: { timeoutMs: 5 } }
    for (const next of [changed, { ...changed, local: [] }, {}]) {
      rewrite(next)
      await project.reload()
    }
    const hint = 'Configuration reloaded: restart Toolpost to apply executor, gateway'
    expect(said).toEqual([hint, hint, 'Configuration reloaded'])
  })

  it.each([
    ['not JSON', '{ "mcpServers": ', /toolpost\.json:1:\d+: is not JSON/],
    ['a rule of the policy', { policy: [{ tools: 'x', then: 'dney' }] }, /policy\[0\]\.then: must be one of/],
    [
      'a declared tool',
      { tools: [{ ...greeting('x'), parameters: { type: 'string' } }] },
      /tools\[0\]: Tool 'greet' cannot be used/,
    ],
  ])('[F59] changes nothing if there is a mistake: %s', async (_what, mistake, problem) => {
    const { project, rewrite, write } = await open({
      mcpServers: { a: gatedServer('a') },
      tools: [greeting('hi')],
    })
    const [before] = await project.ready()
    write({ 'toolpost.json': mistake })
    await expect(project.reload()).rejects.toThrow(problem)
    expect(await project.executor.execute('greet')).toBe('hi')
    expect(project.status().servers[0]).toMatchObject({ state: 'ready', pid: before?.pid })
    rewrite({ tools: [greeting('well')] })
    await project.reload()
    expect(await project.executor.execute('greet')).toBe('well')
  })

  it('[F59] leaves the policy in force if the new one cannot be put in its place', async () => {
    const { project, rewrite, write } = await open({ policy: [{ tools: 'echo', then: 'deny' }] })
    rewrite({ policy: [{ tools: 'echo', then: 'ask' }], tools: [greeting('hi')] })
    write({ 'toolpost.approvals.json': { rules: [{ tools: 'echo', then: 'perhaps' }] } })
    await expect(project.reload()).rejects.toThrow('toolpost.approvals.json:')
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ code: 'denied' })
    expect(project.tools.findTool('greet')).toBeUndefined()
    write({ 'toolpost.approvals.json': { rules: [] } })
    const stop = project.addCheck(() => {
      throw new Error('not like this')
    })
    await expect(project.reload()).rejects.toThrow('not like this')
    expect(await project.executor.run({ name: 'echo' })).toMatchObject({ code: 'denied' })
    stop()
    await project.reload()
    expect(await project.executor.run({ name: 'greet' })).toMatchObject({ success: true })
  })
})

describe('[F59] autoApprove', () => {
  it('spares the question for those tools of that server only, and never loosens what is denied', async () => {
    const server = { ...gatedServer('s'), autoApprove: ['label'] }
    const run = async (config: object, name = 'label', files = {}) => {
      const { project } = await open({ mcpServers: { s: server, t: gatedServer('t') }, ...config }, files)
      await project.ready()
      return project.executor.run({ name }, { ask: async () => ({ action: 'decline' }) })
    }
    const policy = [{ servers: ['s', 't'], then: 'ask' }]
    expect(await run({ policy })).toMatchObject({ success: true })
    expect(await run({ policy }, 'wait')).toMatchObject({ code: 'denied' })
    expect(await run({ policy }, 't__label')).toMatchObject({ code: 'denied' })
    expect(await run({ policy: [{ tools: 'label', then: 'deny' }] })).toMatchObject({ code: 'denied' })
    const rules = [{ tools: 'label', servers: ['s'], then: 'deny' }]
    const remembered = { 'toolpost.approvals.json': { rules } }
    expect(await run({ policy }, 'label', remembered)).toMatchObject({ code: 'denied' })
    const included = { 'cline.json': { mcpServers: { s: server } } }
    const including = { mcpServers: {}, include: ['cline.json'], policy: [{ servers: ['s'], then: 'ask' }] }
    expect(await run(including, 'label', included)).toMatchObject({ code: 'denied' })
  })
})

describe('POST /api/reload', () => {
  const OWN = 'own-token-0123456789abc'
  const post = (gateway: ReturnType<typeof createGateway>, token: string) =>
    gateway.fetch(
      new Request('http://127.0.0.1/api/reload', {
        method: 'POST',
        headers: { host: '127.0.0.1', authorization: `Bearer ${token}` },
      }),
    )

  it('says what changed; 422 with the mistake; 403 to named clients; never a client with the token of the owner', async () => {
    const clients = { me: { token: 'client-token-0123456789' } }
    const { project, rewrite, write } = await open({ clients })
    const gateway = createGateway({ project, token: OWN })
    onTestFinished(() => gateway.close())
    expect((await post(gateway, clients.me.token)).status).toBe(403)
    rewrite({ clients, mcpServers: { a: gatedServer('a') } })
    const answer = await post(gateway, OWN)
    const changes = { added: ['a'], removed: [], changed: [], unchanged: [] }
    expect([answer.status, await answer.json()]).toEqual([200, changes])
    write({ 'toolpost.json': '{,}' })
    const refused = await post(gateway, OWN)
    const error = expect.stringMatching(/toolpost\.json:1:2: is not JSON/)
    expect([refused.status, await refused.json()]).toEqual([422, { error }])
    rewrite({ clients: { me: { token: OWN } } })
    expect((await post(gateway, OWN)).status).toBe(422)
    rewrite({ clients: { you: { token: 'another-token-0123456789' } } })
    expect((await post(gateway, OWN)).status).toBe(200)
    expect((await post(gateway, clients.me.token)).status).toBe(401)
  })
})

describe('calls under way', () => {
  it('[F59] end, while the server they run on is removed from the file', async () => {
    const gate = closedGate()
    const { project, rewrite } = await open({ mcpServers: { a: gatedServer('a', gate.path) } })
    await project.ready()
    const call = project.executor.execute('wait')
    await gate.reached('a')
    rewrite({})
    await project.reload()
    gate.open()
    expect(await call).toBe('a')
  })
})
