import { delimiter, dirname } from 'node:path'
import type { ServerEntry } from '../mcp/index.ts'

/** The configurations of the Toolpost processes above this one, outermost first. */
const VARIABLE = 'TOOLPOST_STARTED_BY'

/**
 * Makes a server start in the folder of its configuration, wherever Toolpost itself was started, and passes it the file's
 * path, since it may be another Toolpost.
 */
export function withStarter(entry: ServerEntry, file: string | undefined): ServerEntry {
  if (entry.command === undefined || file === undefined) return entry
  return {
    cwd: dirname(file),
    ...entry,
    env: { ...entry.env, [VARIABLE]: [...starters(), file].join(delimiter) },
  }
}

/** Whether a Toolpost above this one has the same configuration: each would start another, endlessly. */
export function isStartedByItself(file: string | undefined): boolean {
  return file !== undefined && starters().includes(file)
}

function starters(): string[] {
  return process.env[VARIABLE]?.split(delimiter) ?? []
}
