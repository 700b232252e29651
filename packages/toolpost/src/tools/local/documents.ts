import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type MiniSearch from 'minisearch'

/** A part of a document, indexed and found as a unit. */
interface Section {
  readonly id: string
  readonly file: string
  /** The headings above the text, outermost first; the name of the file if there are none. */
  readonly heading: string
  readonly text: string
}

/** Larger files are data or logs. */
const MAX_FILE_BYTES = 5 * 1024 * 1024
/** At most 1,500 characters, cut at whitespace if there is any: one thought, short enough to point to it. */
const SECTIONS = /\S.{0,1499}(?=\s|$)|\S.{0,1499}/gs
const EXCERPT_CHARS = 300
/** How much text before the match an excerpt shows. */
const LEAD_CHARS = 60
const FILLER_WORDS = new Set(
  `a about an and are at be by can did do does for from has have how i in is it me my of on or our say tell
  that the there this to was we what when where which who why will with you your`.split(/\s+/),
)

/**
 * The internal handler `rag_query`: searches a folder of Markdown and text files. They are indexed on the first query, and
 * again on the first one after a change.
 */
export function ragQuery(folder: string) {
  let index: { of: string; engine: Promise<MiniSearch<Section>> } | undefined
  return async ({ query, limit = 5 }: { query: string; limit?: number }) => {
    const files = await listDocuments(folder)
    const of = JSON.stringify([...files])
    if (index?.of !== of) index = { of, engine: indexOf(folder, [...files.keys()]) }
    const engine = await index.engine
    const found = engine.search(query).slice(0, limit)
    const results = found.map(({ file, heading, text, terms, score }) => ({
      file: file as string,
      heading: heading as string,
      text: excerptAround(text, terms),
      score: Math.round(score * 100) / 100,
    }))
    const [best] = results
    if (best) return { query, results, text: `${best.heading} (${best.file}): ${best.text}` }
    const documents = `${files.size} ${files.size === 1 ? 'document' : 'documents'}`
    const where = files.size === 0 ? ': the folder has no Markdown or text files' : ` in ${documents}`
    return { query, results, text: `Nothing was found for "${query}"${where}.` }
  }
}

async function indexOf(folder: string, files: readonly string[]): Promise<MiniSearch<Section>> {
  const { default: Engine } = await import('minisearch')
  const engine = new Engine<Section>({
    fields: ['heading', 'text', 'file'],
    storeFields: ['heading', 'text', 'file'],
    processTerm: word => (FILLER_WORDS.has(word.toLowerCase()) ? null : foldWord(word)),
    searchOptions: {
      boost: { heading: 3 },
      prefix: term => term.length > 2,
      fuzzy: term => (term.length > 3 ? 0.2 : false),
    },
  })
  for (const file of files) {
    const content = await readFile(join(folder, file), 'utf8').catch(() => '')
    await engine.addAllAsync(sectionsOf(file, content), { chunkSize: 50 })
  }
  return engine
}

/** One form for all spellings of a word: `Müll` and `mull` find each other. */
function foldWord(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
}

/**
 * The Markdown and text files below a folder, by their path within it (with `/` on every platform), each with its state.
 * Hidden names and node_modules are skipped. Symbolic links are not followed: what they point to was not offered.
 */
export async function listDocuments(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(cause => {
    const problem = cause.code === 'ENOENT' ? 'does not exist: create it' : `cannot be read (${cause.code})`
    const advice = 'or set "documents" in the configuration to another folder'
    throw new Error(`The documents folder '${folder}' ${problem}, ${advice}`, { cause })
  })
  const found = new Map<string, string>()
  const paths = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath ?? entry.path, entry.name))
  for (const path of paths.sort()) {
    const name = relative(folder, path).split(sep).join('/')
    if (!/\.(?:md|markdown|txt)$/i.test(name) || /(?:^|\/)(?:\.|node_modules\/)/.test(name)) continue
    const state = await stat(path).catch(() => undefined)
    if (state && state.size <= MAX_FILE_BYTES) found.set(name, `${state.size} ${state.mtimeMs}`)
  }
  return found
}

/** Splits a document at its Markdown headings, and sections that are too long. */
function sectionsOf(file: string, content: string): Section[] {
  // `house/waste-collection.md` is about "waste collection".
  const title = (file.split('/').at(-1) ?? '').replace(/\.\w+$/, '').replace(/[-_]+/g, ' ')
  const sections: Section[] = []
  const trail: string[] = []
  let body = ''
  const endSection = () => {
    const heading = trail.filter(Boolean).join(' › ') || title
    for (const text of body.match(SECTIONS) ?? [])
      sections.push({ id: `${file}#${sections.length}`, file, heading, text: text.trim() })
    body = ''
  }
  /** A `# comment` in a code block is not a heading. */
  let isCode = /\.txt$/i.test(file)
  for (const line of content.normalize('NFC').split(/\r\n?|\n/)) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    const [, marks, heading = ''] = (!isCode && /^\uFEFF? {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line)) || []
    if (marks === undefined) body += `${line}\n`
    else {
      endSection()
      trail.length = marks.length - 1
      trail.push(heading.replace(/(?:[ \t]#+)?[ \t]*$/, ''))
    }
  }
  endSection()
  return sections
}

/** About 300 characters of a text on one line, around the first of the words. */
function excerptAround(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const folded = foldWord(line)
  const first = Math.min(...words.map(word => folded.indexOf(word)).filter(at => at >= 0), line.length)
  const start = Math.max(0, Math.min(first - LEAD_CHARS, line.length - EXCERPT_CHARS))
  const cut = line.slice(start, start + EXCERPT_CHARS)
  const head = start > 0 ? `…${cut.replace(/^\S* /, '')}` : cut
  return start + EXCERPT_CHARS < line.length ? head.replace(/ \S*$/, '…') : head
}
