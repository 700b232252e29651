import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isSecretKey } from '../logging/redact.ts'
import { isRecord } from '../util/guards.ts'
import { writePrivate } from '../util/private-file.ts'
import type { ToolpostConfig } from './config.ts'
import { readJson } from './local-state.ts'

// Which configurations may start programs on this machine: a cloned repository's toolpost.json could name any command.
// Kept per user, outside of every project: for each file, digests of the commands that were approved.

/** What a configuration runs, each with a line for a person; included files are part of it. */
export function commandsOf(mcpServers: ToolpostConfig['mcpServers'] = {}) {
  return Object.entries(mcpServers).flatMap(([name, entry]) => {
    if (entry.url !== undefined || entry.command === undefined) return []
    const { command, args = [], env = {}, cwd } = entry
    // The value of a secret may change, and is nobody's business.
    const variables = Object.entries(env).map(([key, value]) => `${key}=${isSecretKey(key) ? '…' : value}`)
    const words = [...variables, command, ...args]
    const shown = words.map(word => (/^[\w@%+=:,./…-]+$/.test(word) ? word : JSON.stringify(word)))
    const digest = createHash('sha256').update(JSON.stringify([cwd, words]))
    return [{ text: `${name}: ${shown.join(' ')}`, digest: digest.digest('hex') }]
  })
}

type Commands = ReturnType<typeof commandsOf>

export function untrusted(file: string, { mcpServers }: Pick<ToolpostConfig, 'mcpServers'>): Commands {
  const { digests } = approved(file)
  return commandsOf(mcpServers).filter(({ digest }) => !digests.includes(digest))
}

/** Approves the commands of a file. Throws if that cannot be saved. */
export function trust(file: string, commands: Commands): void {
  const { all, path, digests, key } = approved(file)
  const now = new Set([...digests, ...commands.map(({ digest }) => digest)])
  writePrivate(path, `${JSON.stringify({ ...all, [key]: [...now] }, null, 2)}\n`)
}

/** By file, the digests that were approved. What is malformed approves nothing. */
function approved(file: string) {
  const path = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'toolpost', 'trusted.json')
  const [all, key] = [readJson(path), realpathSync(file)]
  const digests = isRecord(all) ? all[key] : undefined
  return { all: isRecord(all) ? all : {}, path, key, digests: Array.isArray(digests) ? digests : [] }
}
