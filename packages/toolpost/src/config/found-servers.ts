import { isRecord, valueAt } from '../runtime/guards.ts'
import type { ServerConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'
import { type IgnoredKey, nearestKey } from './ignored-keys.ts'
import { type ConfigInput, inputsIn } from './inputs.ts'
import { normaliseServer } from './normalise-server.ts'

/** A file that servers are read from. */
export interface ServerFile {
  source: ConfigSource
  /** Absolute. */
  path: string
  /** The name as the user gave it. */
  shown: string
  isIncluded: boolean
}

/** A server as it was found, with our keys; its variables are not filled in yet. */
export interface FoundServer {
  name: string
  entry: ServerConfig
  file: ServerFile
  /** Where it is in its file. */
  path: ConfigPath
  /** The inputs of its file, by id. */
  inputs: ReadonlyMap<string, ConfigInput>
  /** Its keys that Toolpost does not know. */
  ignored: readonly IgnoredKey[]
  /** Tools that need no approval. */
  autoApprove: readonly string[]
  /** Why it cannot be used; `undefined` if it can. */
  problem: string | undefined
}

/** Where programs keep their servers; Claude Code also has them by folder, VS Code's settings under `mcp`. */
const SERVER_KEYS = ['mcpServers', 'servers', 'context_servers'] as const

function placesFor(folder: string): ConfigPath[] {
  return [...SERVER_KEYS.map(key => [key]), ['mcp', 'servers'], ['projects', folder, 'mcpServers']]
}

/** The servers in a file, whichever program wrote it. `known` are our own keys; `folder` is the project's. */
export function serversIn(
  file: ServerFile,
  { known, folder }: { known: ReadonlySet<string>; folder: string },
): FoundServer[] {
  const { value } = file.source
  const inputs = inputsIn(valueAt(value, ['inputs']) ?? valueAt(value, ['mcp', 'inputs']), file.path)
  const found: FoundServer[] = []
  for (const place of placesFor(folder)) {
    const servers = valueAt(value, place)
    for (const [name, raw] of Object.entries(isRecord(servers) ? servers : {})) {
      const path = [...place, name]
      const { entry, ignored, autoApprove, problem } = isRecord(raw)
        ? normaliseServer(raw, known)
        : { entry: raw, ignored: [], autoApprove: [], problem: undefined }
      // An included file must not change what needs approval.
      const approved = file.isIncluded ? [] : autoApprove
      found.push({
        name,
        entry: entry as ServerConfig,
        file,
        path,
        inputs,
        ignored: ignored.map(key => ({ path: [...path, key], meant: nearestKey(key, known) })),
        autoApprove: approved,
        problem,
      })
    }
  }
  return found
}
