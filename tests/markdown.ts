import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.ts'

/** Every document for readers. */
export function documents(): string[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
      const path = join(folder, entry.name).replaceAll('\\', '/')
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : inFolder(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
  const packages = readdirSync(join(root, 'packages')).flatMap(name =>
    readdirSync(join(root, 'packages', name))
      .filter(file => file === 'README.md')
      .map(file => `packages/${name}/${file}`),
  )
  const own = readdirSync(root).filter(name => name.endsWith('.md'))
  return [...own, ...inFolder('docs'), ...packages]
}

export interface CodeBlock {
  document: string
  line: number
  language: string
  code: string
}

/** A document's fenced blocks with a language. */
export function codeBlocks(document: string): CodeBlock[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(match => ({
    document,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    code: match[2] ?? '',
  }))
}

/** The anchors of a document's headings, as on GitHub. */
export function anchors(document: string): Set<string> {
  const text = readFileSync(join(root, document), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
