import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ExecutorOptions, type Tool, ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration, type McpIntegrationOptions } from 'toolpost/mcp'
import { recordingLogger } from 'toolpost/testing'
import { onTestFinished } from 'vitest'

/** A tool for any arguments. */
export function toolThat(name: string, invoke: Tool['invoke'], more: Partial<Tool> = {}): Tool {
  return { name, description: `Does ${name}`, schema: { type: 'object' }, invoke, ...more }
}

/** An executor for these tools, and what it logs. */
export function executorFor(tools: readonly Tool[], options: Partial<ExecutorOptions> = {}) {
  const logger = recordingLogger()
  const manager = new ToolManager({ logger })
  for (const tool of tools) manager.addCustomTool(tool)
  return { executor: new ToolExecutor(manager, { logger, ...options }), tools: manager, logger }
}

/** An empty folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-scenario-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Writes a toolpost.json into a folder of its own and returns its path. */
export function configFile(config: object): string {
  const file = join(temporaryFolder(), 'toolpost.json')
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** What a tool of the fixture server does instead of answering with its arguments. */
interface FixtureTool {
  name: string
  description?: string
  inputSchema?: object
  /** The message of a JSON-RPC error. */
  rejects?: string
  /** The text of a result with `isError`. */
  fails?: string
  /** Lines written to stdout before the answer. */
  junk?: string[]
}

interface FixtureServer {
  tools?: FixtureTool[]
  stderr?: string
  stdout?: string
  starts?: string
  crashes?: number
  hangs?: boolean
}

const FIXTURE = fileURLToPath(new URL('./fixtures/mcp-server.mjs', import.meta.url))

/** An entry of `mcpServers`: a server that does what it is told, see `fixtures/mcp-server.mjs`. */
export function fixtureServer(options: FixtureServer = {}) {
  return { command: process.execPath, args: [FIXTURE, JSON.stringify(options)] }
}

export const ECHO: FixtureTool = {
  name: 'remote_echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}

/** Starts servers, closed after the test, with a local tool `datetime` beside their tools. */
export function connect(
  servers: McpIntegrationOptions['servers'],
  options: Partial<McpIntegrationOptions> = {},
) {
  const logger = recordingLogger()
  const tools = new ToolManager({ logger })
  tools.addCustomTool(toolThat('datetime', () => 'noon'))
  const executor = new ToolExecutor(tools, { logger })
  const mcp = new McpIntegration({ servers, logger, ...options })
  onTestFinished(() => mcp.close())
  mcp.start(tools)
  const status = (name: string) => mcp.status().find(server => server.name === name)
  return { mcp, tools, executor, logger, status }
}

const require = createRequire(import.meta.url)

/** The file of a command that a package installs. */
export function commandOf(packageName: string, command = packageName): string {
  const file = require.resolve(`${packageName}/package.json`)
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin: Record<string, string> }
  return join(dirname(file), bin[command] ?? '')
}

interface StartOptions {
  args?: readonly string[]
  env?: Record<string, string>
  /** Options for Node itself. */
  node?: readonly string[]
}

/** Starts a command in an empty folder; it ends with the test at the latest. */
export function start(command: string, { args = [], env = {}, node = [] }: StartOptions = {}) {
  const folder = temporaryFolder()
  const child = spawn(process.execPath, [...node, command, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', chunk => {
    output.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    output.err += chunk
  })
  const exit = new Promise<number | null>(resolve => child.once('close', code => resolve(code)))
  return { child, output, exit }
}

interface Message {
  jsonrpc?: string
  id?: number
  result?: { content?: { text: string }[]; tools?: { name: string }[]; isError?: boolean }
  error?: { message: string }
}

/** Starts an MCP server over stdio and completes the handshake. */
export async function startMcpServer(command: string, options: StartOptions = {}) {
  const running = start(command, options)
  const lines: string[] = []
  const waiting = new Map<number, (message: Message) => void>()
  createInterface({ input: running.child.stdout }).on('line', line => {
    lines.push(line)
    const message = parsed(line)
    if (message?.id !== undefined) waiting.get(message.id)?.(message)
  })
  const write = (line: string) => void running.child.stdin.write(`${line}\n`)
  let lastId = 0
  const request = (method: string, params: object = {}) => {
    const id = ++lastId
    const answered = new Promise<Message>(resolve => waiting.set(id, resolve))
    write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return answered
  }
  const call = async (name: string, args: object = {}) => {
    const { result, error } = await request('tools/call', { name, arguments: args })
    return error?.message ?? result?.content?.map(({ text }) => text).join('\n')
  }
  const clientInfo = { name: 'test', version: '1' }
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  /** The lines on stdout that are not JSON-RPC. */
  const strayLines = () => lines.filter(line => parsed(line)?.jsonrpc !== '2.0')
  return { ...running, lines, strayLines, write, request, call }
}

function parsed(line: string): Message | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
