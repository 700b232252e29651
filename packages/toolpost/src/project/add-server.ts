import { join } from 'node:path'
import type { ServerStatus } from '../mcp/index.ts'
import { ConfigEditor } from './edit-config.ts'
import { BROKER_VARIABLES, ZWAVE_SERVER, zwavePackage } from './example-home.ts'
import { normaliseServer } from './other-programs.ts'
import { Project } from './project.ts'
import { builtInExample, resolveConfig, resolveFile } from './resolve.ts'
import { ConfigSource } from './source.ts'
import { commandsOf, trust } from './trust.ts'

export interface AddServerOptions {
  /** The configuration; `undefined` for the built-in example, which is written to a file together with the server. */
  file: string | undefined
  name: string
  /** In the notation of any known program. */
  entry: Readonly<Record<string, unknown>>
  check: boolean
  replace: boolean
  signal?: AbortSignal | undefined
}

interface TriedServer {
  status: ServerStatus
  tools: string[]
}

/** With `hasExample`, the file is new and holds the built-in example as well, which ran here until now. */
export type AddedServer =
  | { outcome: 'added'; file: string; tried: TriedServer | undefined; hasExample: boolean }
  | { outcome: 'failed'; tried: TriedServer }
  | { outcome: 'taken'; file: string }

/** Tries a server, and adds it to the configuration if it works. Rejects with a ConfigError if the entry is invalid. */
export async function addServer(options: AddServerOptions): Promise<AddedServer> {
  const { name, check, replace, signal } = options
  const editor = await ConfigEditor.open(options.file)
  const { file } = editor
  if (editor.get(['mcpServers', name]) !== undefined && !replace) return { outcome: 'taken', file }
  const { entry } = normaliseServer(options.entry)
  const tried = check ? await tryServer(file, { name, entry, signal }) : undefined
  if (tried && tried.status.state !== 'ready' && tried.status.state !== 'needs_login')
    return { outcome: 'failed', tried }
  const hasExample = options.file === undefined && editor.isNew
  if (hasExample) writeExample(editor)
  editor.set(['mcpServers', name], entry)
  await editor.save()
  try {
    // Whoever adds a server approves its command; if that cannot be saved, they are asked.
    const { mcpServers = {} } = (await resolveConfig(file)).config
    const { [name]: added } = mcpServers
    if (added) trust(file, commandsOf(hasExample ? mcpServers : { [name]: added }))
  } catch {}
  return { outcome: 'added', file, tried, hasExample }
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

/** Starts a server once, as if it were in the configuration, and stops it again. */
async function tryServer(
  path: string,
  { name, entry, signal }: { name: string; entry: object; signal: AbortSignal | undefined },
): Promise<TriedServer> {
  const text = JSON.stringify({ mcpServers: { [name]: entry }, pins: 'off' })
  const source = new ConfigSource(path, text)
  const read = () => resolveFile({ source, path, isIncluded: false })
  const project = new Project(await read(), { read, triesOnce: true })
  const stop = () => void project.close()
  signal?.addEventListener('abort', stop)
  try {
    const [status] = await project.ready(name)
    if (!status) throw new Error(`There is no server '${name}'`)
    return { status, tools: status.tools }
  } finally {
    signal?.removeEventListener('abort', stop)
    await project.close()
  }
}
