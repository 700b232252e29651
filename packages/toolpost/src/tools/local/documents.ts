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

/** The internal handler `rag_query`: searches a folder of Markdown and text files, read on the first query. */
export function ragQuery(folder: string) {
  const index = new DocumentIndex(folder)
  return async (
    { query, limit = DEFAULT_LIMIT }: { query: string; limit?: number },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<RagQueryResult> => {
    signal?.throwIfAborted()
    const results = await index.search(query, limit)
    signal?.throwIfAborted()
    const [best] = results
    if (best) return { query, results, text: `${best.heading} (${best.file}): ${best.text}` }
    const { fileCount } = index
    const where =
      fileCount === 0
        ? ': the folder has no Markdown or text files'
        : ` in ${fileCount} ${fileCount === 1 ? 'document' : 'documents'}`
    return { query, results, text: `Nothing was found for "${query}"${where}.` }
  }
}

/**
 * A full-text index over a folder. The first search builds it, and every search updates it for files that were added,
 * edited (by time and size) or removed: nothing is watched in between.
 */
class DocumentIndex {
  readonly #folder: string
  readonly #files = new Map<string, DocumentFile & { sections: readonly Section[] }>()
  readonly #sections = new Map<string, Section>()
  #engine: MiniSearch<Section> | undefined
  #updating: Promise<unknown> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
  }

  get fileCount(): number {
    return this.#files.size
  }

  /** The best sections first; throws if the folder cannot be read. */
  async search(query: string, limit: number): Promise<DocumentHit[]> {
    // One update at a time.
    const updated = this.#updating.then(() => this.#update())
    this.#updating = updated.catch(() => {})
    const hits = (await updated).search(meaningfulWords(query)).slice(0, limit)
    return hits.flatMap(({ id, terms, score }) => {
      const section = this.#sections.get(id)
      if (!section) return []
      const { file, heading, text } = section
      return [{ file, heading, text: excerptAround(text, terms), score: Math.round(score * 100) / 100 }]
    })
  }

  async #update(): Promise<MiniSearch<Section>> {
    const current = await listDocuments(this.#folder)
    this.#engine ??= await createEngine()
    const engine = this.#engine
    for (const [name, { mtimeMs, size, sections }] of this.#files) {
      const now = current.get(name)
      if (now?.mtimeMs === mtimeMs && now.size === size) continue
      this.#files.delete(name)
      await inTurns(sections, section => {
        engine.remove(section)
        this.#sections.delete(section.id)
      })
    }
    for (const [name, file] of current) {
      if (this.#files.has(name)) continue
      const content = await readFile(file.path, 'utf8').catch(() => undefined)
      // A file that cannot be read now is left to the next search.
      if (content === undefined) continue
      const sections = splitSections(name, content)
      this.#files.set(name, { ...file, sections })
      await inTurns(sections, section => {
        engine.add(section)
        this.#sections.set(section.id, section)
      })
    }
    return engine
  }
}

async function createEngine(): Promise<MiniSearch<Section>> {
  const { default: Engine } = await import('minisearch')
  return new Engine<Section>({
    fields: ['heading', 'text', 'file'],
    processTerm: foldWord,
    searchOptions: {
      boost: { heading: 3 },
      prefix: term => term.length > 2,
      fuzzy: term => (term.length > 3 ? 0.2 : false),
    },
  })
}

async function inTurns(sections: readonly Section[], work: (section: Section) => void): Promise<void> {
  for (const [index, section] of sections.entries()) {
    if (index > 0 && index % SECTIONS_PER_TURN === 0) await nextTurn()
    work(section)
  }
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
    const problems: Record<string, string> = {
      ENOENT: 'does not exist: create it, or set "documents" in the configuration to another folder',
      ENOTDIR: 'is not a folder: set "documents" in the configuration to a folder',
    }
    throw new Error(`The documents folder '${folder}' ${problems[code] ?? `cannot be read (${code})`}`, {
      cause,
    })
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
  const text = content
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .normalize('NFC')
  const blocks = /\.txt$/i.test(file) ? [{ heading: '', text }] : splitAtHeadings(text)
  // `house/waste-collection.md` is about "waste collection".
  const title = file
    .slice(file.lastIndexOf('/') + 1)
    .replace(/\.\w+$/, '')
    .replace(/[-_]+/g, ' ')
  return blocks
    .flatMap(block => chunk(block.text).map(text => ({ heading: block.heading || title, text })))
    .map((part, index) => ({ id: `${file}#${index}`, file, ...part }))
}

function splitAtHeadings(text: string): { heading: string; text: string }[] {
  const blocks: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }]
  const trail: (string | undefined)[] = []
  /** The open code fence: a `# comment` in a code block is not a heading. */
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const [, marks = '', title] = (fence === undefined && /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line)) || []
    if (title === undefined) {
      blocks.at(-1)?.lines.push(line)
      continue
    }
    trail.length = marks.length - 1
    trail[marks.length - 1] = title
      .trimEnd()
      .replace(/[ \t]#+$/, '')
      .trimEnd()
    blocks.push({ heading: trail.filter(Boolean).join(TRAIL_MARK), lines: [] })
  }
  // A heading with nothing below it is kept, unless the headings of the next block repeat it.
  return blocks
    .map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }))
    .filter(({ heading, text }, index, all) => {
      const isRepeated = all[index + 1]?.heading.startsWith(`${heading}${TRAIL_MARK}`)
      return text !== '' || (heading !== '' && !isRepeated)
    })
}

function chunk(text: string): string[] {
  const chunks: string[] = []
  let current = ''
  for (const piece of text.split(/\n{2,}/).flatMap(cutLong)) {
    if (current && current.length + piece.length > MAX_SECTION_CHARS) {
      chunks.push(current)
      current = piece
    } else current = current ? `${current}\n\n${piece}` : piece
  }
  return [...chunks, current]
}

/** Pieces of a paragraph, cut at whitespace if possible. */
function cutLong(paragraph: string): string[] {
  const pieces: string[] = []
  let rest = paragraph
  while (rest.length > MAX_SECTION_CHARS) {
    const blank = rest.slice(0, MAX_SECTION_CHARS + 1).search(/\s\S*$/)
    const end = blank > MAX_SECTION_CHARS / 2 ? blank : MAX_SECTION_CHARS
    pieces.push(rest.slice(0, end).trim())
    rest = rest.slice(end)
  }
  return [...pieces, rest.trim()]
}

/** About 300 characters of a text on one line, around the place where most of the words occur together. */
function excerptAround(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= EXCERPT_CHARS) return line
  const from = Math.min(densestPlace(line, words) - LEAD_CHARS, line.length - EXCERPT_CHARS)
  const next = from <= 0 ? 0 : line.indexOf(' ', from) + 1
  const start = from <= 0 ? 0 : next > from && next - from <= LEAD_CHARS ? next : from
  const to = start + EXCERPT_CHARS
  const last = line.lastIndexOf(' ', to)
  const end = to >= line.length ? line.length : to - last < LEAD_CHARS ? last : to
  return `${start > 0 ? '…' : ''}${line.slice(start, end).trim()}${end < line.length ? '…' : ''}`
}

/** The position of the match with the most different words within reach; 0 if there is no match. */
function densestPlace(line: string, words: readonly string[]): number {
  const folded = foldWord(line)
  const places = words.map(word => {
    const found: number[] = []
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) found.push(at)
    return found
  })
  const reach = EXCERPT_CHARS - LEAD_CHARS
  let best = { place: 0, count: 0 }
  for (const place of places.flat().sort((a, b) => a - b)) {
    const count = places.filter(list => list.some(other => other >= place && other < place + reach)).length
    if (count > best.count) best = { place, count }
  }
  return best.place
}
