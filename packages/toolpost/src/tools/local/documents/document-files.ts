import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A file as last seen. */
export interface DocumentFile {
  readonly path: string
  readonly mtimeMs: number
  readonly size: number
}

/** Larger files are data or logs; indexing one would block everything else. */
const MAX_FILE_BYTES = 5 * 1024 * 1024

/**
 * The Markdown and text files below a folder, by their path within it (with `/` on every platform).
 * Hidden names and node_modules are skipped. Symbolic links are not followed: targets inside the folder are found
 * anyway, and those outside were not offered for searching.
 */
export async function listDocuments(folder: string): Promise<Map<string, DocumentFile>> {
  const found = new Map<string, DocumentFile>()
  await collect({ path: await realFolder(folder), prefix: '', found })
  return found
}

interface Walk {
  path: string
  prefix: string
  found: Map<string, DocumentFile>
}

async function collect({ path, prefix, found }: Walk): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  const visible = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
  for (const entry of visible.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) await collect({ path: inner, prefix: `${prefix}${entry.name}/`, found })
    else if (entry.isFile() && isDocument(entry.name)) await add(`${prefix}${entry.name}`, inner, found)
  }
}

function isDocument(name: string): boolean {
  return /\.(?:md|markdown|txt)$/i.test(name)
}

async function add(name: string, path: string, found: Walk['found']): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (stats && stats.size <= MAX_FILE_BYTES)
    found.set(name, { path, mtimeMs: stats.mtimeMs, size: stats.size })
}

async function realFolder(folder: string): Promise<string> {
  try {
    const path = await realpath(folder)
    await readdir(path)
    return path
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    throw new Error(`The documents folder '${folder}' ${folderFault(code)}`, { cause })
  }
}

function folderFault(code: string): string {
  if (code === 'ENOENT')
    return 'does not exist: create it, or set "documents" in the configuration to another folder'
  if (code === 'ENOTDIR') return 'is not a folder: set "documents" in the configuration to a folder'
  return `cannot be read (${code})`
}
