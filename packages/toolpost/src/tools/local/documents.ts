import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'

/** A part of a document, indexed and found as a unit. */
interface Section {
  readonly id: string
  readonly file: string
  /** The headings above the text, outermost first; the name of the file if there are none. */
  readonly heading: string
  readonly text: string
}

interface RagQueryResult {
  query: string
  results: (Omit<Section, 'id'> & { score: number })[]
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
    const files = await listDocuments(folder)
    const of = JSON.stringify([...files])
    if (index?.of !== of) index = { of, engine: indexOf(folder, files) }
    const engine = await index.engine
    signal?.throwIfAborted()
    const hits = engine.search(meaningfulWords(query)).slice(0, limit)
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

async function indexOf(folder: string, files: ReadonlyMap<string, string>): Promise<MiniSearch<Section>> {
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
  for (const file of files.keys()) {
    const sections = splitSections(file, await readFile(join(folder, file), 'utf8').catch(() => ''))
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

/**
 * The Markdown and text files below a folder, by their path within it (with `/` on every platform), each with its state.
 * Hidden names and node_modules are skipped. Symbolic links are not followed: targets inside the folder are found
 * anyway, and those outside were not offered for searching.
 */
export async function listDocuments(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(cause => {
    const problem = cause.code === 'ENOENT' ? 'does not exist: create it' : `cannot be read (${cause.code})`
    throw new Error(
      `The documents folder '${folder}' ${problem}, or set "documents" in the configuration to another folder`,
      { cause },
    )
  })
  const found = new Map<string, string>()
  const paths = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath ?? entry.path, entry.name))
  for (const path of paths.sort()) {
    const name = relative(folder, path).split(sep).join('/')
    if (!/\.(?:md|markdown|txt)$/i.test(name) || /(?:^|\/)(?:\.|node_modules\/)/.test(name)) continue
    const { size = Number.POSITIVE_INFINITY, mtimeMs } = (await stat(path).catch(() => undefined)) ?? {}
    if (size <= MAX_FILE_BYTES) found.set(name, `${size} ${mtimeMs}`)
  }
  return found
}

/** Splits a document at its Markdown headings, and sections that are too long between paragraphs, else at whitespace. */
function splitSections(file: string, content: string): Section[] {
  const text = content
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .normalize('NFC')
  // `house/waste-collection.md` is about "waste collection".
  const title = (file.split('/').at(-1) ?? '').replace(/\.\w+$/, '').replace(/[-_]+/g, ' ')
  const sections: Section[] = []
  const add = (heading: string, body: string) => {
    let rest = body.trim()
    while (rest !== '') {
      const start = rest.slice(0, MAX_SECTION_CHARS)
      const ends = [start.lastIndexOf('\n\n'), start.search(/\s\S*$/)].filter(
        at => at > MAX_SECTION_CHARS / 4,
      )
      const end = rest.length > MAX_SECTION_CHARS ? (ends[0] ?? MAX_SECTION_CHARS) : rest.length
      const id = `${file}#${sections.length}`
      sections.push({ id, file, heading: heading || title, text: rest.slice(0, end).trim() })
      rest = rest.slice(end).trim()
    }
  }
  const trail: string[] = []
  let body = ''
  /** The open code fence: a `# comment` in a code block is not a heading. */
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const isMarkdown = fence === undefined && !/\.txt$/i.test(file)
    const [, marks = '', heading] = (isMarkdown && /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line)) || []
    body += heading === undefined ? `${line}\n` : ''
    if (heading === undefined) continue
    add(trail.filter(Boolean).join(' › '), body)
    body = ''
    trail.length = marks.length - 1
    trail.push(heading.replace(/(?:[ \t]#+)?[ \t]*$/, ''))
  }
  add(trail.filter(Boolean).join(' › '), body)
  return sections
}

/** About 300 characters of a text on one line, around the first of the words. */
function excerptAround(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const folded = foldWord(line)
  const first = Math.min(...words.map(word => folded.indexOf(word)).filter(at => at >= 0), line.length)
  const start = Math.max(0, Math.min(first - LEAD_CHARS, line.length - EXCERPT_CHARS))
  const end = start + EXCERPT_CHARS
  const cut = line.slice(start, end)
  const head = start > 0 ? `…${cut.replace(/^\S* /, '')}` : cut
  return end < line.length ? head.replace(/ \S*$/, '…') : head
}
