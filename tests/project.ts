import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

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

/** Every document for readers. */
export function documents(): string[] {
  const own = readdirSync(root).filter(name => name.endsWith('.md'))
  return [...own, ...sourceFiles(/^(docs\/.*\.md|packages\/[^/]+\/README\.md)$/, ['docs', 'packages'])]
}

export interface CodeBlock {
  document: string
  line: number
  language: string
  code: string
}

/** A document's fenced blocks with a language. */
export function codeBlocks(document: string): CodeBlock[] {
  const text = read(document)
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(match => ({
    document,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    code: match[2] ?? '',
  }))
}
