import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type MiniSearch from 'minisearch'
import { type DocumentFile, listDocuments } from './document-files.ts'
import { excerptAround } from './excerpt.ts'
import { type Section, splitSections } from './sections.ts'
import { foldWord, meaningfulWords } from './words.ts'

export interface DocumentHit {
  file: string
  heading: string
  text: string
  score: number
}

interface IndexedFile extends DocumentFile {
  readonly sections: readonly Section[]
}

/** After this many sections, other calls get a turn. */
const SECTIONS_PER_TURN = 50

/**
 * A full-text index over a folder. The first search builds it, and every search updates it for files that were added,
 * edited (by time and size) or removed: nothing is watched in between.
 */
export class DocumentIndex {
  readonly #folder: string
  readonly #files = new Map<string, IndexedFile>()
  readonly #sections = new Map<string, Section>()
  #engine: MiniSearch<Section> | undefined
  #latestRefresh: Promise<unknown> = Promise.resolve()
  #waitingRefresh: Promise<MiniSearch<Section>> | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The best sections first; throws if the folder cannot be read. */
  async search(query: string, limit: number): Promise<DocumentHit[]> {
    const engine = await this.#refresh()
    const hits = engine.search(meaningfulWords(query)).slice(0, limit)
    return hits.flatMap(({ id, terms, score }) => {
      const section = this.#sections.get(id)
      if (!section) return []
      const { file, heading, text } = section
      return [{ file, heading, text: excerptAround(text, terms), score: Math.round(score * 100) / 100 }]
    })
  }

  get fileCount(): number {
    return this.#files.size
  }

  /**
   * One refresh at a time. Searches that arrive during one share the next:
   * the current one may already have passed a file that changed since.
   */
  #refresh(): Promise<MiniSearch<Section>> {
    this.#waitingRefresh ??= this.#queueRefresh()
    return this.#waitingRefresh
  }

  #queueRefresh(): Promise<MiniSearch<Section>> {
    const refresh = this.#latestRefresh.then(() => {
      this.#waitingRefresh = undefined
      return this.#update()
    })
    this.#latestRefresh = refresh.catch(() => {})
    return refresh
  }

  async #update(): Promise<MiniSearch<Section>> {
    const current = await listDocuments(this.#folder)
    this.#engine ??= await createEngine()
    for (const [name, file] of this.#files) {
      const now = current.get(name)
      if (now?.mtimeMs !== file.mtimeMs || now.size !== file.size) await this.#remove(name, file)
    }
    for (const [name, file] of current) if (!this.#files.has(name)) await this.#add(name, file)
    return this.#engine
  }

  async #remove(name: string, { sections }: IndexedFile): Promise<void> {
    this.#files.delete(name)
    await inTurns(sections, section => {
      this.#engine?.remove(section)
      this.#sections.delete(section.id)
    })
  }

  /** A file that cannot be read now is left to the next search. */
  async #add(name: string, file: DocumentFile): Promise<void> {
    const content = await readFile(file.path, 'utf8').catch(() => undefined)
    if (content === undefined) return
    const sections = splitSections(name, content)
    this.#files.set(name, { ...file, sections })
    await inTurns(sections, section => {
      this.#engine?.add(section)
      this.#sections.set(section.id, section)
    })
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
