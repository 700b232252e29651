import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** The project's own files whose path matches, relative to the root. */
export function sourceFiles(pattern: RegExp, folders = ['packages', 'tests', 'examples']): string[] {
  return folders.flatMap(folder => walk(join(root, folder))).filter(file => pattern.test(file))
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (['node_modules', 'dist'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? walk(path) : [relative(root, path).replaceAll('\\', '/')]
  })
}
