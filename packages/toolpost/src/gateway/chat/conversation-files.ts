import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../runtime/guards.ts'
import { KEPT_CONVERSATIONS_IN_ALL, MAX_CONVERSATION_BYTES } from '../limits.ts'
import type { ConversationRecord } from './chat-types.ts'

/** A conversation in its file. */
export interface StoredConversation extends ConversationRecord {
  /** The client it belongs to. */
  owner: string
}

const FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/

/** Conversations in a folder, one file each, readable only by its owner. */
export class ConversationFiles {
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
