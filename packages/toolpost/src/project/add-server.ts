import { join } from 'node:path'
import { builtInExample } from '../config/built-in-example.ts'
import type { ServerConfig } from '../config/config.ts'
import { configSchema } from '../config/config-schema.ts'
import { ConfigEditor } from '../config/edit-config.ts'
import { normaliseServer } from '../config/normalise-server.ts'
import { ZWAVE_BROKER_VARIABLES, ZWAVE_SERVER, zwavePackage } from '../known-servers/zwave.ts'
import { type TriedServer, tryServer } from './try-server.ts'

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
  if (editor.get(['mcpServers', name]) !== undefined && !replace)
    return { outcome: 'taken', file: editor.file }
  const entry = await ourWords(options.entry)
  const { folder } = editor
  const tried = check ? await tryServer(name, entry, { folder, ...(signal && { signal }) }) : undefined
  if (tried && tried.status.state !== 'ready' && tried.status.state !== 'needs_login')
    return { outcome: 'failed', tried }
  const hasExample = options.file === undefined && editor.isNew
  if (hasExample) writeExample(editor)
  editor.set(['mcpServers', name], entry)
  await editor.save()
  return { outcome: 'added', file: editor.file, tried, hasExample }
}

async function ourWords(raw: Readonly<Record<string, unknown>>): Promise<ServerConfig> {
  const { entry } = normaliseServer(raw, (await configSchema()).serverKeys)
  return entry as unknown as ServerConfig
}

/** A file replaces the built-in example, so its contents are written there, too, and nothing disappears. */
function writeExample(editor: ConfigEditor): void {
  for (const [key, value] of Object.entries(builtInExample())) editor.set([key], value)
  const folder = zwavePackage()
  if (!folder) return
  const given = ZWAVE_BROKER_VARIABLES.filter(name => process.env[name])
  editor.set(['mcpServers', ZWAVE_SERVER], {
    command: 'node',
    args: [join(folder, 'bin', 'zwave-mcp-server.js')],
    ...(given.length > 0 && { env: Object.fromEntries(given.map(name => [name, `\${${name}}`])) }),
  })
}
