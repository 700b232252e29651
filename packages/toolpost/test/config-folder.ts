import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { resolveConfig } from '../src/project/resolve.ts'

/** Files by path; those that are no text are written as JSON. */
export type Files = Record<string, unknown>

/** Writes a folder with these files, which goes away with the test. */
export function configFolder(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFiles(folder, files)
  return folder
}

export function writeFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
}

/** What the `toolpost.json` of a folder says, with variables filled in. */
export async function configOf(folder: string, environment: Record<string, string> = {}) {
  const resolved = await resolveConfig(undefined, { folder, environment })
  return { ...resolved, servers: resolved.config.mcpServers ?? {} }
}
