import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { testGateway } from '../../test/gateway.ts'
import { recordTelemetry } from '../../test/recorded-spans.ts'
import { ToolExecutor } from '../executor/tool-executor.ts'
import { openHistory } from '../history/index.ts'
import { trace } from '../interceptors/trace.ts'
import type { Logger } from '../logging/logger.ts'
import { treatAsSecret } from '../logging/safe-value.ts'
import { McpIntegration } from '../mcp/mcp-integration.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { serverLine } from './up/overview.ts'

/*
 * A hundred secrets, each in another place or form, and everything that Toolpost writes about the calls and servers
 * that have them. What tools return to their callers is not touched; everything else has to be without them.
 * A new sink (history, trace, cassette …) belongs into `sinks` below.
 */

let planted = 0
/** A secret that can be found again. */
function canary(): string {
  return `cnry${++planted}zq`
}
const CANARY = /cnry\d+zq/gi
/** The same as a key that nobody would take for a word. */
const random = () => `k3Jx9Qm${canary()}2Lw8Zt5Rv`

const KEYS = [
  ...[
    'password',
    'Passwd',
    'pass',
    'pw',
    'pwd',
    'passcode',
    'passphrase',
    'pin',
    'otp',
    'auth',
    'token',
    'jwt',
  ],
  ...['accessToken', 'refresh_token', 'apiKey', 'X-Api-Key', 'client_secret', 'sessionId', 'Authorization'],
  ...['Cookie', 'Set-Cookie', 'private_key', 'ssh_key', 'OPENAI_KEY', 'GITHUB_PAT', 'credentials', 'dbPass'],
  ...['aws_secret_access_key', 'signing-key', 'PHPSESSID', 'houseCode'],
]

const TEXTS = [
  () => `run --password ${canary()} --verbose`,
  () => `run --token=${canary()}`,
  () => `hvs.${random()}`,
  () => `dp.pt.${random()}`,
  () => `lin_api_${random()}`,
  () => `ntn_${random()}`,
  () => `figd_${random()}`,
  () => `xai-${random()}`,
  () => `secret_${random()}`,
  () => `bot 123456789:AA${random()}${'x'.repeat(30)}`,
  () => `client-key-data: ${random()}`,
  () => `["--api-key", "${canary()}"]`,
  () => `<password>${canary()}</password>`,
  () => `<entry key="token">${canary()}</entry>`,
  () => `<add name="password" value="${canary()}"/>`,
  () => `https://${canary()}@host/path`,
  () => `mqtt://me:50%off/${canary()}@host`,
  () => `{"name":"password","value":"${canary()}"}`,
  () => `{"value":"${canary()}","name":"api_key"}`,
  () => JSON.stringify(JSON.stringify({ headers: [{ name: 'Cookie', value: `a=${canary()}` }] })),
  () => JSON.stringify({ inner: JSON.stringify({ password: canary() }) }),
  () => `sk-ant-api03-${canary()}-abcdefgh`,
  () => `sk-${canary()}abcdefghijkl`,
  () => `ghp_${canary()}abcdefghijklmnop`,
  () => `github_pat_${canary()}abcdefghijklmnop`,
  () => `xoxb-1234-${canary()}`,
  () => `AIza${canary()}abcdefghijklmnopqrstuvwxyz`,
  () => `eyJhbGciOiJI.eyJzdWIiOiIx.${canary()}`,
  () => `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary()}\n${canary()}\n-----END OPENSSH PRIVATE KEY-----`,
  () => `Authorization: Digest ${canary()}`,
  () => `Bearer ${canary()}`,
  () => `Basic ${Buffer.from('me:x').toString('base64')}${canary()}`,
  () => `curl -u me:${canary()} http://host/`,
  () => `password: ${canary()}\npin=${canary()}`,
  () => `DATABASE_URL=postgres://me:${canary()}@db/x`,
  () => `password = "${canary()}"`,
  () => `api_key = """${canary()}"""`,
  () => `passwords:\n  - ${canary()}\n  - ${canary()}`,
  () => `- name: DB_PASSWORD\n  value: ${canary()}`,
  () => `docker run -e "DB_PASSWORD=two ${canary()}" image`,
  () => `kubectl --token "${canary()}" get pods`,
  () => `curl -ume:${canary()} http://host/`,
  () => `ENV API_KEY ${canary()}`,
  () => `https://host/?q=a%26token%3D${canary()}`,
  () => `https://host/cb?code=${random()}`,
  () => `https://host/#access_token=${canary()}`,
  () => `{&quot;password&quot;:&quot;${canary()}&quot;}`,
  () => `Content-Disposition: form-data; name="password"\r\n\r\n${canary()}\r\n--x`,
  () => `CREATE USER x IDENTIFIED BY '${canary()}'`,
  () => `<key>password</key><string>${canary()}</string>`,
  () => `dckr_pat_${random()}`,
  () => `glpat-${random()}`,
  () => `npm_${random()}abcdefghijk`,
  () => `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${canary()}\n-----END PGP PRIVATE KEY BLOCK-----`,
  // The environment of the server below has a secret that is this very word.
  () => `passphrase: ${canary()}`,
  () => `{"passphrase":"${canary()}"}`,
]

const VALUES: (() => unknown)[] = [
  () => ({ name: 'password', value: canary() }),
  () => ({ headers: [{ name: 'Authorization', value: canary() }] }),
  () => ['--password', canary()],
  () => [['token', canary()]],
  () => ({ [`token=${canary()}`]: 1 }),
  () => ({ [`sk-ant-api03-${canary()}abcd`]: 1 }),
  () => ({ deep: [{ deeper: { api_key: canary() } }] }),
  () => ({ Name: 'passphrase', Value: canary() }),
  () => ({ command: 'docker', args: ['login', '-p', canary()] }),
  () => ({ lines: ['-----BEGIN PRIVATE KEY-----', canary(), '-----END PRIVATE KEY-----'] }),
  () => ({ kind: 'Secret', data: { a: canary() } }),
]

const SERVER = fileURLToPath(new URL('../../test/telling-server.mjs', import.meta.url))

function stdioServer(env: Record<string, string> = {}) {
  const args = [SERVER, '--password', canary(), `--token=${canary()}`, `API_KEY=${canary()}`]
  return {
    command: process.execPath,
    args: [
      ...args,
      `postgres://me:${canary()}@db/x`,
      `https://${canary()}@host/`,
      `https://host/s/${random()}/x`,
    ],
    env: {
      OPENAI_KEY: canary(),
      GITHUB_PAT: canary(),
      SSH_KEY: canary(),
      MY_PASSWORD: `with "quotes" ${canary()}`,
      NEUTRAL: random(),
      BROKER: `mqtt://me:${canary()}@127.0.0.1:9`,
      CERTIFICATE_KEY: `-----BEGIN PRIVATE KEY-----\n${canary()}abcdefghijklmn\n-----END PRIVATE KEY-----`,
      HOUSE_CODE: canary(),
      WORDY_PASSWORD: 'passphrase',
      ...env,
    },
  }
}

/** Nobody listens there. */
function httpServer() {
  return {
    url: `http://me:${canary()}@127.0.0.1:9/s/${random()}/mcp?api_key=${canary()}`,
    headers: { Authorization: `Bearer ${canary()}`, 'X-Other': random() },
  }
}

function pinoTo(lines: string[]): Logger {
  const write = (line: string) => void lines.push(line)
  return pino({ level: 'trace' }, { write }) as unknown as Logger
}

/** By name, what was written there. */
const sinks = new Map<string, string>()

async function runEverything(): Promise<void> {
  treatAsSecret(['houseCode'])
  const logger = recordingLogger()
  const reports: string[] = []
  const tools = new ToolManager({ logger })
  const executor = new ToolExecutor(tools, { logger, slowMs: 0 })
  const servers = { told: stdioServer(), left: stdioServer({ TELL_AND_LEAVE: '1' }), remote: httpServer() }
  const mcp = new McpIntegration({
    servers,
    logger,
    retry: { attempts: 2, baseDelayMs: 1 },
    onReport: report => void reports.push(report),
  })
  using telemetry = recordTelemetry()
  executor.use(trace({ arguments: true, results: true }))
  const file = join(mkdtempSync(join(tmpdir(), 'toolpost-canaries-')), 'history.db')
  const history = await openHistory({ file })
  history.observe(executor)
  await using gateway = testGateway([], { executor, mcp, logger })
  const events = await gateway.get('/api/events')
  mcp.start(tools)
  await mcp.ready()
  const answers = await callEverything(executor)
  sinks.set('answers of servers', answers)
  await vi.waitFor(() => expect(mcp.status()[0]?.state).toBe('ready'), 15_000)
  for (const path of [
    '/api/calls',
    '/api/servers',
    '/api/tools',
    '/api/openapi.json',
    '/metrics',
    '/healthz',
  ])
    sinks.set(path, await (await gateway.get(path)).text())
  sinks.set('status lines', mcp.status().map(serverLine).join('\n'))
  sinks.set('reports', reports.join('\n'))
  await gateway.close({ drainMs: 0 })
  await mcp.close()
  sinks.set('/api/events', await events.text())
  sinks.set('log', logger.text())
  sinks.set(
    'trace',
    JSON.stringify(
      telemetry.spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    ),
  )
  await history.close()
  sinks.set('history', readFileSync(file, 'latin1'))
  rmSync(dirname(file), { recursive: true })
}

/** Every form in arguments, in a result and in an error; what the servers say of themselves. Gives the servers' answers. */
async function callEverything(executor: ToolExecutor): Promise<string> {
  const lines: string[] = []
  const toPino = new ToolExecutor(executor.tools, { logger: pinoTo(lines) })
  const planted = [
    Object.fromEntries(KEYS.map(key => [key, canary()])),
    Object.fromEntries(
      KEYS.map(key => [key, canary()]).map(([key, value]) => [`the${key}`, `${key}=${value}`]),
    ),
    ...TEXTS.map(make => ({ text: make() })),
    ...VALUES.map(make => ({ value: make() })),
    {
      map: new Map([['password', canary()]]),
      error: new Error(`token=${canary()}`),
      url: new URL(`http://a:${canary()}@b/`),
    },
  ]
  let result: unknown
  const define = (name: string, handler: () => unknown) =>
    executor.tools.addCustomTool(defineTool({ name, description: name, schema: { type: 'object' }, handler }))
  define('tell', () => result)
  define('throw', () => {
    throw new Error(JSON.stringify(result), { cause: new Error(String((result as { text?: string }).text)) })
  })
  for (const args of planted) {
    result = args
    for (const one of [executor, toPino]) {
      await one.run({ name: 'tell', args: JSON.parse(JSON.stringify(args)) })
      await one.run({ name: 'throw', args: {} })
    }
  }
  const answers = []
  for (const name of ['fail', 'refuse', 'leave']) answers.push(await executor.run({ name, args: {} }))
  sinks.set('pino', lines.join(''))
  return JSON.stringify(answers)
}

const { toolpost, configFile } = commandLine()

async function runCommands(): Promise<void> {
  const config = configFile({
    mcpServers: { left: stdioServer({ TELL_AND_LEAVE: '1' }), remote: httpServer() },
    mcp: { retry: { attempts: 1 } },
    voice: { mqtt: { url: `mqtt://me:${canary()}@127.0.0.1:9`, password: canary() } },
    log: { level: 'debug', secrets: ['houseCode'] },
    model: 'offline',
  })
  for (const words of [['doctor'], ['tools'], ['call', 'fail']]) {
    const { out, err } = await toolpost([...words, '--config', config])
    sinks.set(`toolpost ${words[0]}`, out + err)
  }
  const wrong = configFile({
    mcpServers: { remote: { url: `http//me:${canary()}@host/?token=${canary()}` } },
  })
  const { out, err } = await toolpost(['tools', '--config', wrong])
  sinks.set('a wrong configuration', out + err)
}

beforeAll(async () => {
  await runEverything()
  await runCommands()
}, 60_000)
afterAll(() => sinks.clear())

describe('[F34] of a hundred canaries', () => {
  it('there are at least a hundred', () => expect(planted).toBeGreaterThanOrEqual(100))

  it.each([
    ...[
      'log',
      'pino',
      '/api/calls',
      '/api/events',
      '/api/servers',
      '/api/tools',
      '/api/openapi.json',
      '/metrics',
    ],
    ...[
      'answers of servers',
      'status lines',
      'reports',
      'toolpost doctor',
      'toolpost tools',
      'toolpost call',
    ],
    ...['a wrong configuration', 'trace', 'history'],
  ])('none is in %s, which is there', sink => {
    const text = sinks.get(sink) ?? ''
    expect(text.length).toBeGreaterThan(50)
    const found = [...text.matchAll(CANARY)].map(({ index }) =>
      text.slice(Math.max(0, index - 150), index + 20),
    )
    expect(found.slice(0, 5)).toEqual([])
  })

  it('the words around them are still there', () => {
    expect(sinks.get('/api/servers')).toContain('OPENAI_KEY=[removed]')
    expect(sinks.get('answers of servers')).toContain('NEUTRAL=[removed]')
    expect(sinks.get('toolpost doctor')).toMatch(/server remote: failed/)
  })
})
