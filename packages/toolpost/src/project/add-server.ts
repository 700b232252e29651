import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLogger } from '../logging/logger.ts'
import type { ServerStatus } from '../mcp/index.ts'
import { ConfigEditor } from './edit-config.ts'
import { BROKER_VARIABLES, ZWAVE_SERVER, zwavePackage } from './example-home.ts'
import { openProject } from './open-project.ts'
import { normaliseServer } from './other-programs.ts'
import { builtInExample, resolveConfig } from './resolve.ts'
import { commandsOf, trust } from './trust.ts'

export interface AddServerOptions {
  /** The configuration; `undefined` for the built-in example, which is written to a file together with the server. */
  file: string | undefined
  name: string
  /** In the notation of any known program. */
  entry: Readonly<Record<string, unknown>>
  /** Whether to add it only if it works. */
  check: boolean
  /** Whether to replace a server of this name. */
  replace: boolean
  signal?: AbortSignal | undefined
}

interface TriedServer {
  status: ServerStatus
  /** The names of its tools. */
  tools: string[]
}

export type AddedServer =
  | {
      outcome: 'added'
      file: string
      tried: TriedServer | undefined
      /** Whether the file is new and holds the built-in example as well, which ran here until now. */
      hasExample: boolean
    }
  | { outcome: 'failed'; tried: TriedServer }
  | { outcome: 'taken'; file: string }

/** Tries a server, and adds it to the configuration if it works. Rejects with a ConfigError if the entry is invalid. */
export async function addServer(options: AddServerOptions): Promise<AddedServer> {
  const { name, check, replace, signal } = options
  const editor = await ConfigEditor.open(options.file)
  const { file, folder } = editor
  if (editor.get(['mcpServers', name]) !== undefined && !replace) return { outcome: 'taken', file }
  const { entry } = normaliseServer(options.entry)
  const tried = check ? await tryServer(name, entry, { folder, signal }) : undefined
  if (tried && tried.status.state !== 'ready' && tried.status.state !== 'needs_login')
    return { outcome: 'failed', tried }
  const hasExample = options.file === undefined && editor.isNew
  if (hasExample) writeExample(editor)
  editor.set(['mcpServers', name], entry)
  await editor.save()
  await trustAdded(file, name, hasExample)
  return { outcome: 'added', file, tried, hasExample }
}

/** Whoever adds a server approves its command; if that cannot be saved, they are asked. */
async function trustAdded(file: string, name: string, hasExample: boolean): Promise<void> {
  try {
    const { mcpServers = {} } = (await resolveConfig(file)).config
    const { [name]: added } = mcpServers
    if (added) trust(file, commandsOf(hasExample ? mcpServers : { [name]: added }))
  } catch {}
}

/** A file replaces the built-in example, so its contents are written there, too, and nothing disappears. */
function writeExample(editor: ConfigEditor): void {
  for (const [key, value] of Object.entries(builtInExample().config)) editor.set([key], value)
  const folder = zwavePackage()
  if (!folder) return
  const given = BROKER_VARIABLES.filter(name => process.env[name])
  editor.set(['mcpServers', ZWAVE_SERVER], {
    command: 'node',
    args: [join(folder, 'bin', 'zwave-mcp-server.js')],
    trust: true,
    ...(given.length > 0 && { env: Object.fromEntries(given.map(name => [name, `\${${name}}`])) }),
  })
}

/** Starts a server once, as if it were in the configuration of this folder, and stops it again. */
async function tryServer(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  { folder, signal }: { folder: string; signal: AbortSignal | undefined },
): Promise<TriedServer> {
  const file = join(folder, `.toolpost-try-${randomUUID()}.json`)
  const config = { mcpServers: { [name]: entry }, mcp: { retry: { attempts: 1 } }, pins: 'off' }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  try {
    const project = await openProject({ file, logger: () => silentLogger })
    const stop = () => void project.close()
    signal?.addEventListener('abort', stop)
    try {
      const [status] = await project.ready(name)
      if (!status) throw new Error(`There is no server '${name}'`)
      const tools = project.tools.getTools().filter(tool => project.tools.originOf(tool)?.server === name)
      return { status, tools: tools.map(tool => tool.name) }
    } finally {
      signal?.removeEventListener('abort', stop)
      await project.close()
    }
  } finally {
    await rm(file, { force: true })
  }
}
