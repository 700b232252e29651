import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../runtime/guards.ts'
import type { ChatTurn, ConversationInfo, ConversationRecord } from '../api-types.ts'
import {
  KEPT_CHARACTERS,
  KEPT_CONVERSATIONS,
  KEPT_CONVERSATIONS_IN_ALL,
  KEPT_TURNS,
  MAX_CONVERSATION_BYTES,
  MAX_CONVERSATION_NAME,
} from '../limits.ts'

export interface ArchiveOptions {
  /** Where conversations are kept now; in memory only if there is no folder. */
  folder(): string | undefined
  /** Called if a file cannot be written; the answer is not affected. */
  onProblem(error: unknown): void
}

/**
 * Past chat conversations, bounded per client and in all; the least recently used is dropped first. Saved next to the
 * history, if there is one, so that they survive a restart.
 */
export class ChatArchive {
  readonly #options: ArchiveOptions
  /** The least recently used first. */
  readonly #kept = new Map<string, StoredConversation>()
  #files: ConversationFiles | undefined
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
    const now = Date.now()
    this.#put({
      id,
      owner,
      name: known?.name ?? nameFrom(first?.question ?? ''),
      createdAt: known?.createdAt ?? first?.askedAt ?? now,
      updatedAt: now,
      turns: bounded(turns),
    })
    this.#forgetOldest(owner)
  }

  async rename(owner: string, id: string, name: string): Promise<ConversationInfo | undefined> {
    const known = await this.get(owner, id)
    if (!known) return undefined
    const renamed = { ...known, name: nameFrom(name) }
    this.#put(renamed, { isUsed: false })
    return infoOf(renamed)
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

  #put(conversation: StoredConversation, { isUsed = true } = {}): void {
    if (isUsed) this.#kept.delete(conversation.id)
    this.#kept.set(conversation.id, conversation)
    this.#write(files => files.write(conversation))
  }

  #forgetOldest(owner: string): void {
    const own = this.#of(owner)
    for (const { id } of own.slice(0, Math.max(0, own.length - KEPT_CONVERSATIONS))) this.#forget(id)
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_CONVERSATIONS_IN_ALL) return
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    this.#kept.delete(id)
    this.#write(files => files.remove(id))
  }

  #write(action: (files: ConversationFiles) => Promise<void>): void {
    const files = this.#files
    if (files) this.#writing = this.#writing.then(() => action(files)).catch(this.#options.onProblem)
  }

  /** Reads the folder once; a new one is read when the configuration names it. */
  #open(): Promise<void> {
    const folder = this.#options.folder()
    if (!this.#opened || this.#opened.folder !== folder) this.#opened = { folder, done: this.#read(folder) }
    return this.#opened.done
  }

  async #read(folder: string | undefined): Promise<void> {
    this.#files = folder === undefined ? undefined : new ConversationFiles(folder)
    const found = (await this.#files?.readAll()) ?? []
    // What was said before the folder was known is kept as well.
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

/** Drops the first turns if it is too long; from a single turn, it drops the call results before any text. */
function bounded(turns: readonly ChatTurn[]): ChatTurn[] {
  let kept = turns.slice(-KEPT_TURNS)
  const isTooLong = () => JSON.stringify(kept).length > KEPT_CHARACTERS
  while (kept.length > 1 && isTooLong()) kept = kept.slice(1)
  return isTooLong() ? kept.map(withoutResults) : kept
}

function withoutResults(turn: ChatTurn): ChatTurn {
  const parts = turn.parts.map(part => {
    if (part.kind === 'text') return { ...part, text: part.text.slice(0, KEPT_CHARACTERS / 4) }
    const { id, name, phase } = part.call
    return { kind: 'call' as const, call: { id, name, phase, args: {} } }
  })
  return { ...turn, question: turn.question.slice(0, KEPT_CHARACTERS / 4), parts: parts.slice(-KEPT_TURNS) }
}

/** A conversation in its file. */
interface StoredConversation extends ConversationRecord {
  /** The client it belongs to. */
  owner: string
}

const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/

/** Conversations in a folder, one file each, readable only by its owner. */
class ConversationFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** All conversations; files that are too large or malformed are ignored. Never rejects. */
  async readAll(): Promise<StoredConversation[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const files = names.filter(name => FILE.test(name)).slice(0, KEPT_CONVERSATIONS_IN_ALL)
    const found = await Promise.all(files.map(name => this.#read(name).catch(() => undefined)))
    return found.filter(conversation => conversation !== undefined)
  }

  async #read(name: string): Promise<StoredConversation | undefined> {
    const file = await open(join(this.#folder, name))
    try {
      if ((await file.stat()).size > MAX_CONVERSATION_BYTES) return undefined
      const value: unknown = JSON.parse(await file.readFile('utf8'))
      return isStored(value) && fileOf(value.id) === name ? value : undefined
    } finally {
      await file.close()
    }
  }

  /** Atomic. */
  async write(conversation: StoredConversation): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const draft = join(this.#folder, `.${randomUUID()}`)
    await writeFile(draft, JSON.stringify(conversation), { mode: 0o600 })
    await rename(draft, join(this.#folder, fileOf(conversation.id)))
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, fileOf(id)), { force: true })
  }
}

/** The ids of a named client are `<name>/<uuid>`. */
function fileOf(id: string): string {
  return `${id.slice(id.lastIndexOf('/') + 1)}.json`
}

function isStored(value: unknown): value is StoredConversation {
  if (!isRecord(value)) return false
  const { id, owner, name, createdAt, updatedAt, turns } = value
  const hasTexts = [id, owner, name].every(text => typeof text === 'string')
  const hasTimes = [createdAt, updatedAt].every(time => typeof time === 'number')
  return hasTexts && hasTimes && Array.isArray(turns) && turns.every(isTurn)
}

function isTurn(turn: unknown): boolean {
  return (
    isRecord(turn) && typeof turn.question === 'string' && Array.isArray(turn.parts) && isRecord(turn.end)
  )
}
