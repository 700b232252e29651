import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../util/guards.ts'
import type { ChatTurn, ConversationInfo, ConversationRecord } from '../api-types.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_TURNS, MAX_CONVERSATION_NAME } from '../limits.ts'

export interface ArchiveOptions {
  /** Where conversations are kept now; in memory only if there is no folder. */
  folder(): string | undefined
  /** Called if a file cannot be written; the answer is not affected. */
  onProblem(error: unknown): void
}

interface StoredConversation extends ConversationRecord {
  /** The client it belongs to. */
  owner: string
}

const FILE = /^[0-9a-f-]{36}\.json$/

/**
 * Past chat conversations, the least recently used of a client dropped first. Saved next to the history, if there is one,
 * one file each, so that they survive a restart.
 */
export class ChatArchive {
  readonly #options: ArchiveOptions
  /** The least recently used first. */
  readonly #kept = new Map<string, StoredConversation>()
  #opened: { folder: string | undefined; done: Promise<void> } | undefined
  /** One write after another, so that the later of two wins. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: ArchiveOptions) {
    this.#options = options
  }

  /** Newest first. */
  async list(owner: string): Promise<ConversationInfo[]> {
    await this.#open()
    return this.#of(owner).map(infoOf).reverse()
  }

  async get(owner: string, id: string): Promise<StoredConversation | undefined> {
    await this.#open()
    const found = this.#kept.get(id)
    return found?.owner === owner ? found : undefined
  }

  /** `turns` replace those the conversation had. */
  async keep(owner: string, id: string, turns: readonly ChatTurn[]): Promise<void> {
    const known = await this.get(owner, id)
    const [first] = turns
    const updatedAt = Date.now()
    this.#kept.delete(id)
    this.#put({
      ...{ id, owner, updatedAt, turns: bounded(turns) },
      name: known?.name ?? nameFrom(first?.question ?? ''),
      createdAt: known?.createdAt ?? first?.askedAt ?? updatedAt,
    })
    const own = this.#of(owner)
    for (const old of own.slice(0, Math.max(0, own.length - KEPT_CONVERSATIONS))) this.#forget(old.id)
  }

  async rename(owner: string, id: string, name: string): Promise<ConversationInfo | undefined> {
    const known = await this.get(owner, id)
    if (!known) return undefined
    this.#put({ ...known, name: nameFrom(name) })
    return infoOf({ ...known, name: nameFrom(name) })
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const known = await this.get(owner, id)
    if (known) this.#forget(id)
    return known !== undefined
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.#writing
  }

  #of(owner: string): StoredConversation[] {
    return [...this.#kept.values()].filter(each => each.owner === owner)
  }

  #put(conversation: StoredConversation): void {
    this.#kept.set(conversation.id, conversation)
    this.#write(async folder => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const draft = join(folder, `.${randomUUID()}`)
      await writeFile(draft, JSON.stringify(conversation), { mode: 0o600 })
      await rename(draft, join(folder, fileOf(conversation.id)))
    })
  }

  #forget(id: string): void {
    this.#kept.delete(id)
    this.#write(folder => rm(join(folder, fileOf(id)), { force: true }))
  }

  #write(action: (folder: string) => Promise<void>): void {
    const folder = this.#opened?.folder
    if (folder === undefined) return
    this.#writing = this.#writing.then(() => action(folder)).catch(this.#options.onProblem)
  }

  /** Reads the folder once; a new one is read when the configuration names it. */
  #open(): Promise<void> {
    const folder = this.#options.folder()
    if (!this.#opened || this.#opened.folder !== folder) this.#opened = { folder, done: this.#read(folder) }
    return this.#opened.done
  }

  /** Files that are malformed are ignored. What was said before the folder was known is kept as well. */
  async #read(folder = ''): Promise<void> {
    const names = folder ? await readdir(folder).catch(() => []) : []
    const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'))
    const files = names.filter(name => FILE.test(name))
    const values = await Promise.all(files.map(name => read(name).catch(() => undefined)))
    const found = values.filter((value, at) => isStored(value) && fileOf(value.id) === files[at])
    const all = [...found, ...this.#kept.values()].sort((a, b) => a.updatedAt - b.updatedAt)
    this.#kept.clear()
    for (const each of all) this.#kept.set(each.id, each)
  }
}

function infoOf({ id, name, createdAt, updatedAt, turns }: StoredConversation): ConversationInfo {
  return { id, name, createdAt, updatedAt, turns: turns.length }
}

function nameFrom(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim() || 'Conversation'
  return line.length > MAX_CONVERSATION_NAME ? `${line.slice(0, MAX_CONVERSATION_NAME - 1)}…` : line
}

/** Drops the first turns if it is too long; from a single turn, its calls. */
function bounded(turns: readonly ChatTurn[]): ChatTurn[] {
  let kept = turns.slice(-KEPT_TURNS)
  const isTooLong = () => JSON.stringify(kept).length > KEPT_CHARACTERS
  while (kept.length > 1 && isTooLong()) kept = kept.slice(1)
  if (!isTooLong()) return kept
  const texts = (turn: ChatTurn) => turn.parts.filter(({ kind }) => kind === 'text')
  return kept.map(turn => ({ ...turn, parts: texts(turn) }))
}

/** The ids of a named client are `<name>/<uuid>`. */
function fileOf(id: string): string {
  return `${id.slice(id.lastIndexOf('/') + 1)}.json`
}

function isStored(value: unknown): value is StoredConversation {
  if (!isRecord(value)) return false
  const { id, owner, name, updatedAt, turns } = value
  const hasTexts = [id, owner, name].every(text => typeof text === 'string')
  const isTurn = (turn: unknown) => isRecord(turn) && Array.isArray(turn.parts) && isRecord(turn.end)
  return hasTexts && typeof updatedAt === 'number' && Array.isArray(turns) && turns.every(isTurn)
}
