import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isSecretKey } from '../logging/redact.ts'
import { isRecord } from '../util/guards.ts'
import type { ServerConfig, ToolpostConfig } from './config.ts'

/*
 * Which configurations may start programs on this machine: a cloned repository's toolpost.json could name any command.
 * Kept per user, outside of every project: for each file, digests of the commands that were approved.
 */

/** A command that a configuration runs, as a line for a person. */
export interface TrustedCommand {
  text: string
  digest: string
}

/** What a configuration runs; included files are part of it. */
export function commandsOf(mcpServers: Readonly<Record<string, ServerConfig>> = {}): TrustedCommand[] {
  return Object.entries(mcpServers).flatMap(([name, entry]) => {
    if (entry.url !== undefined || entry.command === undefined) return []
    const { command, args = [], env = {}, cwd } = entry
    // The value of a secret may change, and is nobody's business.
    const variables = Object.entries(env).map(([key, value]) => `${key}=${isSecretKey(key) ? '…' : value}`)
    const words = [...variables, command, ...args]
    const shown = words.map(word => (/^[\w@%+=:,./…-]+$/.test(word) ? word : JSON.stringify(word)))
    const digest = createHash('sha256')
      .update(JSON.stringify([cwd, words]))
      .digest('hex')
    return [{ text: `${name}: ${shown.join(' ')}`, digest }]
  })
}

/** The commands of a file that were never approved here. */
export function untrusted(
  file: string,
  { mcpServers }: Pick<ToolpostConfig, 'mcpServers'>,
): TrustedCommand[] {
  const commands = commandsOf(mcpServers)
  if (commands.length === 0) return []
  const trusted = readTrusted()[realpathSync(file)]
  return commands.filter(({ digest }) => !Array.isArray(trusted) || !trusted.includes(digest))
}

/** Approves the commands of a file. Throws if that cannot be saved. */
export function trust(file: string, commands: readonly TrustedCommand[]): void {
  const path = trustFile()
  const [trusted, key] = [readTrusted(), realpathSync(file)]
  const before = Array.isArray(trusted[key]) ? trusted[key] : []
  const digests = [...new Set([...before, ...commands.map(({ digest }) => digest)])]
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify({ ...trusted, [key]: digests }, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

function trustFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'toolpost', 'trusted.json')
}

/** An unreadable file approves nothing. */
function readTrusted(): Record<string, unknown> {
  try {
    const trusted: unknown = JSON.parse(readFileSync(trustFile(), 'utf8'))
    return isRecord(trusted) ? trusted : {}
  } catch {
    return {}
  }
}
