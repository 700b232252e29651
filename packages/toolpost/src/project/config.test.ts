import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { configFolder, configOf } from '../../test/config-folder.ts'
import { safeText } from '../logging/safe-value.ts'
import { openProject } from './open-project.ts'

afterEach(() => void vi.unstubAllEnvs())

const TOKEN = 'a-token-of-some-length'

/** A configuration, given as JSON on one line; `\n` in it starts the next. */
async function read(config: object | string, environment?: Record<string, string>) {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  return configOf(configFolder({ 'toolpost.json': text }), environment)
}

/** Configurations with a mistake, and the place and the words that are shown. */
const MISTAKES: [config: object, place: string, problem: string][] = [
  [{ limits: { tools: { a: { concurrency: 0 } } } }, 'limits.tools.a.concurrency', 'must be >= 1'],
  [{ limits: { tools: { '{a}': { queue: 1 } } } }, 'limits.tools.{a}', 'only * and ? are wildcards'],
  [{ clients: { a: { token: TOKEN }, b: { token: TOKEN } } }, 'clients.b.token', "the token of 'a'"],
  [{ clients: { ann: { token: 'short' } } }, 'clients.ann.token', 'is too short: it needs at least 16'],
  [{ clients: { ann: { token: '${NOT_SET}' } } }, 'clients.ann.token', 'variable NOT_SET is not set'],
  [{ clients: { a: { token: TOKEN, tools: ['x', 'a|b'] } } }, 'clients.a.tools[1]', "invalid pattern 'a|b'"],
  [
    { durable: { databaseUrl: 'mysql://me:hunter22@db/x' } },
    'durable.databaseUrl',
    'expected a PostgreSQL URL',
  ],
  [
    { approvals: { notify: { url: 'https://x.example' } } },
    'approvals.notify',
    "missing 'approvals.notify.secret'",
  ],
  [{ limits: { breaker: true } }, 'limits.breaker', 'must be false or object, got boolean'],
  [{ shape: { 'a*': { result: 'a[' } } }, 'shape.a*.result', 'invalid JMESPath'],
  [{ mcpServers: { a: { command: 'x', args: 'y' } } }, 'mcpServers.a.args', 'must be array, got string'],
  [{ mcpServers: { a: { url: 'x' } } }, 'mcpServers.a', "'x' is not a valid URL"],
  [{ mcpServers: { a: { command: 'x', env: { A: {} } } } }, 'mcpServers.a.env.A', 'must be string'],
  [oauth({ issuer: 'http://x.com', audience: 'x' }), 'gateway.oauth.issuer', 'expected the URL of the'],
  [oauth({ audience: 'x', scopes: { 'a b': ['*'] } }), 'gateway.oauth.scopes.a b', 'expected a scope'],
  [policy({ tool: 'a', then: 'deny' }), 'policy[0]', "unknown 'policy[0].tool'; expected one of tools"],
  [policy({ servers: ['flies'], then: 'deny' }), 'policy[0]', "there is no server 'flies' in mcpServers"],
  [policy({ callers: ['claude'], then: 'deny' }), 'policy[0]', "there is no client 'claude' in clients"],
  [policy({ args: { type: 'strin' }, then: 'deny' }), 'policy[0]', 'is not a usable JSON Schema'],
  [{ durable: { limits: {} } }, 'durable', "'durable.limits' is now 'durable.servers'"],
]

function oauth(settings: object) {
  return { gateway: { oauth: { issuer: 'https://login.example.com', ...settings } } }
}

function policy(...rules: object[]) {
  return { mcpServers: { files: { command: 'x' } }, policy: rules }
}

describe('a mistake', () => {
  it.each(MISTAKES)('[F41] is refused with its place: %j', async (config, place, problem) => {
    const error: Error = await read(config).then(
      () => new Error('nothing'),
      thrown => thrown,
    )
    expect(error.name).toBe('ConfigError')
    expect(error.message).toMatch(/^toolpost\.json:1:\d+, /)
    expect(error.message).toContain(`, ${place}: `)
    expect(error.message).toContain(problem)
    expect(error.message).not.toMatch(/a-token-of|hunter22/)
  })
})

describe('${NAME}', () => {
  const environment = { URL: 'mqtt://x', KEY: 'k', TOKEN, DB: 'postgres://me:Tr0ub4dor@db:5432/x' }

  it('is filled in from the environment, in servers and everywhere else', async () => {
    const home = {
      command: 'run-${KEY}',
      args: ['--url', '${URL}/${KEY}', '${NONE:-default}'],
      env: { A: '${env:URL}', B: 'plain', C: 5 },
      cwd: './here',
    }
    const oauth = { clientId: 'me', clientSecret: '${KEY}', redirectPort: 8080 }
    const folder = configFolder({
      'toolpost.json': {
        mcpServers: { home, remote: { url: 'http://${KEY}', headers: { X: 'Bearer ${KEY}' }, oauth } },
        clients: { me: { token: '${TOKEN}' } },
        durable: { databaseUrl: '${DB}' },
        documents: 'notes',
      },
    })
    const { config } = await configOf(folder, environment)
    expect(config).toEqual({
      mcpServers: {
        home: {
          command: 'run-k',
          args: ['--url', 'mqtt://x/k', 'default'],
          env: { A: 'mqtt://x', B: 'plain', C: '5' },
          cwd: join(folder, 'here'),
        },
        remote: { url: 'http://k', headers: { X: 'Bearer k' }, oauth: { ...oauth, clientSecret: 'k' } },
      },
      clients: { me: { token: TOKEN } },
      durable: { databaseUrl: environment.DB },
      documents: join(folder, 'notes'),
    })
  })

  it('that is missing breaks only the server that wants it, and names variable, file and place', async () => {
    const broken = { command: 'x', env: { A: '${input:api-key}' } }
    const { brokenServers } = await read({ mcpServers: { broken, other: { command: 'y' } } })
    const unset =
      /:1:\d+, mcpServers\.broken\.env\.A: the environment variable TOOLPOST_INPUT_API_KEY is not set$/
    expect(brokenServers).toEqual({ broken: expect.stringMatching(unset) })
  })

  it('that holds a password is never logged', async () => {
    vi.stubEnv('TEST_DATABASE', environment.DB)
    const folder = configFolder({ 'toolpost.json': { durable: { databaseUrl: '${TEST_DATABASE}' } } })
    const project = await openProject({ file: join(folder, 'toolpost.json') })
    expect(safeText('it is Tr0ub4dor')).not.toContain('Tr0ub4dor')
    await project.close()
  })
})

const server = (command: string) => ({ mcpServers: { [command]: { command } } })

describe('included files', () => {
  it('bring their servers, and those that they include, relative to themselves; own ones come first', async () => {
    const folder = configFolder({
      'toolpost.json': { include: ['./a/one.json', 'none/mcp.json'], ...server('own') },
      'a/one.json': { include: ['../b/two.json', '../toolpost.json'], ...server('one') },
      'b/two.json': { servers: { two: { command: 'two', cwd: 'here', args: ['${workspaceFolder}'] } } },
    })
    const { servers, notices, files } = await configOf(folder)
    expect(Object.keys(servers)).toEqual(['own', 'one', 'two'])
    expect(servers.two).toEqual({ command: 'two', cwd: join(folder, 'b', 'here'), args: [folder] })
    expect(notices).toEqual(['⚠️ toolpost.json: the included file none/mcp.json does not exist yet'])
    const names = ['toolpost.json', 'a/one.json', 'b/two.json', 'none/mcp.json']
    expect(files).toEqual(names.map(name => join(folder, name)))
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

  it('[F59] bring nothing but servers: no policy, clients, gateway, limits, approvals or trust', async () => {
    const own = { include: ['other.json'], policy: [{ tools: 'x', then: 'deny' }] }
    const folder = configFolder({
      'toolpost.json': own,
      'other.json': {
        policy: [{ then: 'allow' }],
        clients: { evil: { token: TOKEN } },
        gateway: { host: '0.0.0.0' },
        model: 'offline',
        mcpServers: { a: { command: 'x', autoApprove: ['delete_all'], trust: true } },
      },
    })
    const { config, autoApprove, notices } = await configOf(folder)
    expect(config).toEqual({ ...own, mcpServers: { a: { command: 'x' } } })
    expect(autoApprove).toEqual({ a: [] })
    expect(notices).toEqual(['⚠️ other.json: only servers are included; ignoring policy, clients, gateway'])
  })

  it('cost only the server whose entry has a mistake', async () => {
    const mcpServers = {
      bad: { command: 'x', args: 'y' },
      none: {},
      text: 'x',
      good: { command: 'x' },
    }
    const files = { 'toolpost.json': { include: ['a.json'] }, 'a.json': { mcpServers } }
    const { brokenServers, servers } = await configOf(configFolder(files))
    expect(Object.keys(servers)).toEqual(Object.keys(mcpServers))
    expect(brokenServers).toEqual({
      bad: 'a.json:5:15, mcpServers.bad.args: must be array, got string',
      none: "a.json:7:13, mcpServers.none: needs either 'command' or 'url', as a string",
      text: 'a.json:8:13, mcpServers.text: must be object, got string',
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
