import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf, writeFiles } from '../../test/config-folder.ts'

const ENVIRONMENT = {
  HOME: '/home/me',
  GITHUB_TOKEN: 'ghp_0123456789',
  API_KEY: 'k-1',
  TOOLPOST_INPUT_PERPLEXITY_KEY: 'pplx',
}

/** The file as its program has it, what becomes of its servers, and which keys are named as ignored. */
const FILES: [program: string, file: string, servers: (folder: string) => object, ignored: string[]][] = [
  [
    'Claude Code (.mcp.json)',
    `{
      "mcpServers": {
        "api": { "type": "http", "url": "\${API_BASE_URL:-https://api.example.com}/mcp", "headers": { "Authorization": "Bearer \${API_KEY}" } },
        "events": { "type": "sse", "url": "https://mcp.example.com/sse", "headersHelper": "/opt/bin/headers.sh" },
        "db": { "type": "stdio", "command": "npx", "args": ["-y", "@bytebase/dbhub"], "env": { "DSN": "postgres://localhost/db" } }
      }
    }`,
    () => ({
      api: { type: 'http', url: 'https://api.example.com/mcp', headers: { Authorization: 'Bearer k-1' } },
      events: { type: 'sse', url: 'https://mcp.example.com/sse' },
      db: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', '@bytebase/dbhub'],
        env: { DSN: 'postgres://localhost/db' },
      },
    }),
    ['mcpServers.events.headersHelper'],
  ],
  [
    'Cursor',
    `{
      "mcpServers": {
        "local": {
          "type": "stdio",
          "command": "python",
          "args": ["\${workspaceFolder}/tools/server.py", "--home", "\${userHome}/x", "\${workspaceFolderBasename}\${/}y"],
          "env": { "API_KEY": "\${env:API_KEY}" },
          "envFile": "\${workspaceFolder}/.env"
        },
        "remote": { "url": "http://localhost:3000/mcp", "headers": { "X-Key": "\${env:API_KEY}" } }
      }
    }`,
    folder => ({
      local: {
        type: 'stdio',
        command: 'python',
        args: [
          `${folder}/tools/server.py`,
          '--home',
          `${homedir()}/x`,
          expect.stringMatching(/^toolpost-config-\w+\/y$/),
        ],
        env: { API_KEY: 'k-1', FROM_FILE: 'yes' },
        envFile: join(folder, '.env'),
      },
      remote: { url: 'http://localhost:3000/mcp', headers: { 'X-Key': 'k-1' } },
    }),
    [],
  ],
  [
    'VS Code (.vscode/mcp.json)',
    `{
      // Asked once.
      "inputs": [
        { "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true },
      ],
      "servers": {
        "perplexity": { "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"], "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}", "UNSET": null }, "dev": { "watch": "src/**", "debug": { "type": "node" } } },
        "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/", "gallery": true, "version": "0.1" },
        "fetch": { "command": "uvx", "args": ["mcp-server-fetch"], "sandboxEnabled": true, "sandbox": { "network": {} } },
      },
    }`,
    () => ({
      perplexity: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'server-perplexity-ask'],
        env: { PERPLEXITY_API_KEY: 'pplx' },
      },
      github: { type: 'http', url: 'https://api.githubcopilot.com/mcp/' },
      fetch: { command: 'uvx', args: ['mcp-server-fetch'] },
    }),
    [
      'servers.perplexity.dev',
      'servers.github.gallery',
      'servers.github.version',
      'servers.fetch.sandboxEnabled',
    ],
  ],
  [
    'VS Code (settings.json)',
    `{ "editor.fontSize": 12, "mcp": { "inputs": [{ "id": "perplexity-key", "type": "pickString", "options": ["a", "b"] }], "servers": { "one": { "command": "x", "args": ["\${input:perplexity-key}"] } } } }`,
    () => ({ one: { command: 'x', args: ['pplx'] } }),
    ['editor.fontSize'],
  ],
  [
    'Windsurf',
    `{
      "mcpServers": {
        "remote": { "serverUrl": "https://example.com/mcp", "headers": { "API_KEY": "Bearer \${env:API_KEY}" } },
        "figma": { "command": "npx", "args": ["figma-mcp"], "disabled": false, "disabledTools": ["delete_file", "share"] }
      }
    }`,
    () => ({
      remote: { url: 'https://example.com/mcp', headers: { API_KEY: 'Bearer k-1' } },
      figma: { command: 'npx', args: ['figma-mcp'], disabled: false, exclude: ['delete_file', 'share'] },
    }),
    [],
  ],
  [
    'Zed',
    `{
      "theme": "One Dark",
      "context_servers": {
        "new": { "source": "custom", "command": "node", "args": ["a.js"], "env": {}, "settings": { "x": 1 } },
        "old": { "command": { "path": "node", "args": ["b.js"], "env": { "A": "\${API_KEY}" } }, "settings": {} },
        "off": { "enabled": false, "command": "node", "args": [] },
        "postgres": { "source": "extension", "settings": { "database_url": "x" } }
      }
    }`,
    () => ({
      new: { command: 'node', args: ['a.js'], env: {} },
      old: { command: 'node', args: ['b.js'], env: { A: 'k-1' } },
      postgres: {},
    }),
    [
      'theme',
      'context_servers.new.settings',
      'context_servers.old.settings',
      'context_servers.postgres.settings',
    ],
  ],
  [
    'Cline',
    `{
      "mcpServers": {
        "linear": { "autoApprove": ["list_issues"], "disabled": false, "timeout": 60, "type": "stdio", "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.app/sse"] },
        "roo": { "type": "streamable-http", "url": "https://example.com/mcp", "alwaysAllow": ["a", "b"], "timeout": 3600, "watchPaths": ["x"] },
        "gone": { "disabled": true, "command": "\${NOT_SET}" }
      }
    }`,
    () => ({
      linear: { disabled: false, timeoutMs: 60_000, type: 'stdio', command: 'npx', args: expect.any(Array) },
      roo: { type: 'http', url: 'https://example.com/mcp', timeoutMs: 3_600_000 },
    }),
    ['mcpServers.roo.watchPaths'],
  ],
  [
    'Gemini CLI',
    `{
      "mcpServers": {
        "http": { "httpUrl": "https://example.com/mcp", "timeout": 600000, "trust": true },
        "some": { "command": "x", "includeTools": ["a"], "excludeTools": ["b"] }
      },
      "selectedAuthType": "oauth-personal"
    }`,
    () => ({
      http: { url: 'https://example.com/mcp', timeoutMs: 600_000, trust: true },
      some: { command: 'x', include: ['a'], exclude: ['b'] },
    }),
    ['selectedAuthType'],
  ],
]

describe('the file of another program is taken as it is', () => {
  it.each(FILES)('%s', async (_program, file, servers, ignored) => {
    const folder = configFolder({ 'toolpost.json': file, '.env': 'FROM_FILE=yes\nAPI_KEY=other' })
    const found = await configOf(folder, ENVIRONMENT)
    expect(found.servers).toEqual(servers(folder))
    expect(found.notices.join()).toBe(
      ignored.length === 0
        ? ''
        : `⚠️ toolpost.json: ignoring unknown ${ignored.length === 1 ? 'key' : 'keys'} ${ignored.join(', ')}`,
    )
    expect(Object.keys(found.brokenServers)).toEqual(_program === 'Zed' ? ['postgres'] : [])
  })

  it('also the servers that Claude Code keeps for this folder, and no other', async () => {
    const folder = configFolder({})
    const claude = {
      numStartups: 5,
      mcpServers: { user: { command: 'u' } },
      projects: {
        [folder]: { mcpServers: { mine: { command: 'm' } } },
        '/elsewhere': { mcpServers: { no: { command: 'n' } } },
      },
    }
    writeFiles(folder, { 'toolpost.json': { include: ['claude.json'] }, 'claude.json': claude })
    expect((await configOf(folder)).servers).toEqual({ user: { command: 'u' }, mine: { command: 'm' } })
  })
})

it.each(['websocket', 'constructor', '', 5])(
  '[F59] an unknown type (%j) is refused for that server alone, with those that are expected',
  async type => {
    const mcpServers = { a: { url: 'http://x', type }, b: { command: 'x' } }
    const { brokenServers } = await configOf(configFolder({ 'toolpost.json': { mcpServers } }))
    expect(brokenServers).toEqual({
      a: expect.stringMatching(
        /^toolpost\.json:3:10, mcpServers\.a: invalid 'type'.*; expected one of stdio, http, streamable-http, sse$/,
      ),
    })
  },
)

it('${input:…} of VS Code is read from TOOLPOST_INPUT_…, and fails only the server that wants it', async () => {
  const servers = { keyed: { command: 'x', env: { KEY: '${input:api-key}' } }, free: { command: 'w' } }
  const folder = configFolder({ 'toolpost.json': { inputs: [{ id: 'api-key' }], servers } })
  const found = await configOf(folder, { TOOLPOST_INPUT_API_KEY: 'k' })
  expect(found.servers).toMatchObject({ keyed: { env: { KEY: 'k' } } })
  expect((await configOf(folder)).brokenServers).toEqual({
    keyed: expect.stringContaining(
      'servers.keyed.env.KEY: the environment variable TOOLPOST_INPUT_API_KEY is not set',
    ),
  })
})
