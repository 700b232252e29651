import { isRecord } from '../runtime/guards.ts'
import type { ServerConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'
import { type IgnoredKey, nearestKey } from './ignored-keys.ts'
import { type ConfigInput, inputsIn } from './inputs.ts'
import { normaliseServer } from './normalise-server.ts'

/** A file that servers are read from. */
export interface ServerFile {
  source: ConfigSource
  /** Its own path, absolute. */
  path: string
  /** As the person named it. */
  shown: string
  isIncluded: boolean
}

/** A server as it was found, in our words; variables in it are not filled in yet. */
export interface FoundServer {
  name: string
  entry: ServerConfig
  file: ServerFile
  /** Where it stands in its file. */
  path: ConfigPath
  /** Of its file, by id. */
  inputs: ReadonlyMap<string, ConfigInput>
  /** Its keys that mean nothing here. */
  ignored: readonly IgnoredKey[]
  /** Tools that are not asked about. */
  autoApprove: readonly string[]
  /** Why it cannot be used, if it cannot. */
  problem: string | undefined
}

/** Where programs keep their servers; Claude Code also by folder, VS Code's settings and ours under `mcp`. */
const SERVER_KEYS = ['mcpServers', 'servers', 'context_servers'] as const

function placesFor(folder: string): ConfigPath[] {
  return [...SERVER_KEYS.map(key => [key]), ['mcp', 'servers'], ['projects', folder, 'mcpServers']]
}

/** The servers of a file, whichever program wrote it. `known` are the keys of ours; `folder` is the project's. */
export function serversIn(
  file: ServerFile,
  { known, folder }: { known: ReadonlySet<string>; folder: string },
): FoundServer[] {
  const { value } = file.source
  const inputs = inputsIn(at(value, ['inputs']) ?? at(value, ['mcp', 'inputs']), file.path)
  const found: FoundServer[] = []
  for (const place of placesFor(folder)) {
    const servers = at(value, place)
    for (const [name, raw] of Object.entries(isRecord(servers) ? servers : {})) {
      const path = [...place, name]
      const { entry, ignored, autoApprove, problem } = isRecord(raw)
        ? normaliseServer(raw, known)
        : { entry: raw, ignored: [], autoApprove: [], problem: undefined }
      // What comes with an included file may not change what is asked about.
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

function at(value: unknown, path: ConfigPath): unknown {
  return path.reduce(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}
