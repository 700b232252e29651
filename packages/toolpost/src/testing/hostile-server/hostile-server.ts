import { fileURLToPath } from 'node:url'
import { compiledFile } from '../../runtime/package-root.ts'
import { FAULTS_VARIABLE, type HostileFaults } from './faults.ts'

export type { HostileFaults } from './faults.ts'

/**
 * An `mcpServers` entry for a server that misbehaves on request: through these faults, and through tools named after
 * what they do (`never`, `die`, `half_line`, `wrong_id`, `flood_stderr`, …). For testing how a client copes.
 */
export function hostileServer(faults: HostileFaults = {}): {
  command: string
  args: string[]
  env: Record<string, string>
} {
  return {
    command: process.execPath,
    args: [fileURLToPath(compiledFile('testing/hostile-server/server.js'))],
    env: { [FAULTS_VARIABLE]: JSON.stringify(faults) },
  }
}
