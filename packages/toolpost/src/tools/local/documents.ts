import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'

interface DocumentHit {
  file: string
  heading: string
  text: string
  score: number
}

interface RagQueryResult {
  query: string
  results: DocumentHit[]
  /** What to say: the best passage and its source, or that nothing was found. */
  text: string
}

const DEFAULT_LIMIT = 5
/** After this many sections, other calls get a turn. */
const SECTIONS_PER_TURN = 50
/** Larger files are data or logs; indexing one would block everything else. */
const MAX_FILE_BYTES = 5 * 1024 * 1024
/** Long enough for one thought, short enough to point to it. */
const MAX_SECTION_CHARS = 1_500
const EXCERPT_CHARS = 300
/** How much text before the match an excerpt shows. */
const LEAD_CHARS = 60
const TRAIL_MARK = ' › '

/**
 * The internal handler `rag_query`: searches a folder of Markdown and text files. They are indexed on the first query, and
 * again on the first one after a change.
 */
export function ragQuery(folder: string) {
  let index: { of: string; engine: Promise<MiniSearch<Section>> } | undefined
  return async (
    { query, limit = DEFAULT_LIMIT }: { query: string; limit?: number },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<RagQueryResult> => {
    signal?.throwIfAborted()
    const files = await listDocuments(folder)
    const of = JSON.stringify([...files])
    if (index?.of !== of) index = { of, engine: indexOf(files) }
    const hits = (await index.engine).search(meaningfulWords(query)).slice(0, limit)
    signal?.throwIfAborted()
    const results = hits.map(({ file, heading, text, terms, score }) => ({
      file,
      heading,
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

async function indexOf(files: ReadonlyMap<string, DocumentFile>): Promise<MiniSearch<Section>> {
  const { default: Engine } = await import('minisearch')
  const engine = new Engine<Section>({
    fields: ['heading', 'text', 'file'],
    storeFields: ['heading', 'text', 'file'],
    processTerm: foldWord,
    searchOptions: {
      boost: { heading: 3 },
      prefix: term => term.length > 2,
      fuzzy: term => (term.length > 3 ? 0.2 : false),
    },
  })
  for (const [name, { path }] of files) {
    const sections = splitSections(name, await readFile(path, 'utf8').catch(() => ''))
    for (const [at, section] of sections.entries()) {
      if (at % SECTIONS_PER_TURN === 0) await nextTurn()
      engine.add(section)
    }
  }
  return engine
}

/** One form for all spellings of a word: `Müll` and `mull` find each other. */
function foldWord(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()
}

const FILLER_WORDS = new Set(
  `a about an and are at be by can did do does for from has have how i in is it me my of on or our say tell
  that the there this to was we what when where which who why will with you your`.split(/\s+/),
)

/** The words of a query that say what it is about; all of them if none does. */
function meaningfulWords(query: string): string {
  const words = query.split(/\s+/)
  const kept = words.filter(word => !FILLER_WORDS.has(foldWord(word).replace(/[^\p{L}\p{N}]/gu, '')))
  return (kept.length > 0 ? kept : words).join(' ')
}

/** A file as last seen. */
interface DocumentFile {
  readonly path: string
  readonly mtimeMs: number
  readonly size: number
}

/**
 * The Markdown and text files below a folder, by their path within it (with `/` on every platform).
 * Hidden names and node_modules are skipped. Symbolic links are not followed: targets inside the folder are found
 * anyway, and those outside were not offered for searching.
 */
export async function listDocuments(folder: string): Promise<Map<string, DocumentFile>> {
  const found = new Map<string, DocumentFile>()
  const collect = async (path: string, prefix: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    const visible = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    for (const entry of visible.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = join(path, entry.name)
      if (entry.isDirectory()) await collect(inner, `${prefix}${entry.name}/`)
      if (!entry.isFile() || !/\.(?:md|markdown|txt)$/i.test(entry.name)) continue
      const { size, mtimeMs } = (await stat(inner).catch(() => undefined)) ?? {}
      if (size !== undefined && mtimeMs !== undefined && size <= MAX_FILE_BYTES)
        found.set(`${prefix}${entry.name}`, { path: inner, mtimeMs, size })
    }
  }
  await collect(await realFolder(folder), '')
  return found
}

async function realFolder(folder: string): Promise<string> {
  try {
    const path = await realpath(folder)
    await readdir(path)
    return path
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const problem = code === 'ENOENT' ? 'does not exist: create it' : `cannot be read (${code})`
    throw new Error(
      `The documents folder '${folder}' ${problem}, or set "documents" in the configuration to another folder`,
      { cause },
    )
  }
}

/** A part of a document, indexed and found as a unit. */
interface Section {
  readonly id: string
  readonly file: string
  /** The headings above the text, outermost first; the name of the file if there are none. */
  readonly heading: string
  readonly text: string
}

/** Splits a document at its Markdown headings, and sections that are still too long between paragraphs. */
function splitSections(file: string, content: string): Section[] {
  const text = content.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const blocks = /\.txt$/i.test(file) ? [{ heading: '', text }] : splitAtHeadings(text.normalize('NFC'))
  // `house/waste-collection.md` is about "waste collection".
  const title = (file.split('/').at(-1) ?? '').replace(/\.\w+$/, '').replace(/[-_]+/g, ' ')
  return blocks
    .filter(block => block.text.trim() !== '')
    .flatMap(block => chunk(block.text).map(text => ({ heading: block.heading || title, text })))
    .map((part, index) => ({ id: `${file}#${index}`, file, ...part }))
}

function splitAtHeadings(text: string): { heading: string; text: string }[] {
  const blocks = [{ heading: '', text: '' }]
  const trail: string[] = []
  /** The open code fence: a `# comment` in a code block is not a heading. */
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const [, marks = '', title] = (fence === undefined && /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line)) || []
    if (title !== undefined) {
      trail.length = marks.length - 1
      trail.push(title.replace(/(?:[ \t]#+)?[ \t]*$/, ''))
      const heading = trail.filter(Boolean).join(TRAIL_MARK)
      blocks.push({ heading, text: '' })
    }
    const block = blocks.at(-1)
    if (block && title === undefined) block.text += `${line}\n`
  }
  return blocks
}

/** Pieces of a text, cut between paragraphs, else at whitespace. */
function chunk(text: string): string[] {
  const chunks: string[] = []
  let rest = text.trim()
  while (rest.length > MAX_SECTION_CHARS) {
    const start = rest.slice(0, MAX_SECTION_CHARS)
    const end = [start.lastIndexOf('\n\n'), start.search(/\s\S*$/)].find(at => at > MAX_SECTION_CHARS / 4)
    chunks.push(rest.slice(0, end ?? MAX_SECTION_CHARS).trim())
    rest = rest.slice(end ?? MAX_SECTION_CHARS).trim()
  }
  return [...chunks, rest]
}

/** About 300 characters of a text on one line, around the first of the words. */
function excerptAround(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const folded = foldWord(line)
  const first = Math.min(...words.map(word => folded.indexOf(word)).filter(at => at >= 0), line.length)
  const start = Math.max(0, Math.min(first - LEAD_CHARS, line.length - EXCERPT_CHARS))
  const cut = line.slice(start, start + EXCERPT_CHARS)
  const isEnd = start + EXCERPT_CHARS >= line.length
  return `${start > 0 ? `…${cut.replace(/^\S* /, '')}` : cut}`.replace(isEnd ? '' : / \S*$/, isEnd ? '' : '…')
}
