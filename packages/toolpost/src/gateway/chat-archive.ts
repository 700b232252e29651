import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ToolResult } from '../call/tool-result.ts'
import type { PlainMessage } from '../models/ai-client.ts'
import { isRecord } from '../util/guards.ts'
import type { ChatTurn, ConversationInfo, ConversationRecord } from './api-types.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_TURNS, MAX_CONVERSATION_NAME } from './limits.ts'

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
  readonly #historyFile: () => string | undefined
  readonly #onProblem: (error: unknown) => void
  /** The least recently used first. */
  readonly #kept = new Map<string, StoredConversation>()
  #reading: Promise<void> | undefined
  /** One write after another, so that the later of two wins. */
  #writing: Promise<void> = Promise.resolve()

  constructor(historyFile: () => string | undefined, onProblem: (error: unknown) => void) {
    this.#historyFile = historyFile
    this.#onProblem = onProblem
  }

  /** Newest first. */
  async list(owner: string): Promise<ConversationInfo[]> {
    await this.#read()
    return this.#of(owner).map(infoOf).reverse()
  }

  async get(owner: string, id: string): Promise<StoredConversation | undefined> {
    await this.#read()
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
    for (const old of this.#of(owner).slice(0, -KEPT_CONVERSATIONS)) this.#forget(old.id)
  }

  async rename(owner: string, id: string, name: string): Promise<ConversationInfo | undefined> {
    const known = await this.get(owner, id)
    if (!known) return undefined
    const renamed = { ...known, name: nameFrom(name) }
    this.#put(renamed)
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

  #folder(): string | undefined {
    const file = this.#historyFile()
    return file === undefined ? undefined : join(dirname(file), 'conversations')
  }

  #write(action: (folder: string) => Promise<void>): void {
    const folder = this.#folder()
    if (folder !== undefined) this.#writing = this.#writing.then(() => action(folder)).catch(this.#onProblem)
  }

  /** Reads the folder, once there is one. Files that are malformed are ignored. */
  async #read(): Promise<void> {
    const folder = this.#folder()
    if (folder === undefined) return
    this.#reading ??= (async () => {
      const names = (await readdir(folder).catch(() => [])).filter(name => FILE.test(name))
      const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'))
      const values = await Promise.all(names.map(name => read(name).catch(() => undefined)))
      const found = values.filter((value, at) => isStored(value) && fileOf(value.id) === names[at])
      const all = [...found, ...this.#kept.values()].sort((a, b) => a.updatedAt - b.updatedAt)
      this.#kept.clear()
      for (const each of all) this.#kept.set(each.id, each)
    })()
    await this.#reading
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
  return kept.map(turn => ({ ...turn, parts: turn.parts.filter(({ kind }) => kind === 'text') }))
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

/** Turns as messages for a model: text, calls and their results. Stopped and failed answers are left out. */
export function messagesOf(
  turns: readonly ChatTurn[],
  textOf: (result: ToolResult) => string,
): PlainMessage[] {
  const messages: PlainMessage[] = []
  for (const { question, parts, end } of turns) {
    if (end.stopReason === 'stopped' || end.stopReason === 'error') continue
    let said: PlainMessage = { role: 'assistant', content: '' }
    messages.push({ role: 'user', content: question }, said)
    for (const part of parts) {
      if (part.kind === 'text') {
        // Text after calls begins another message.
        if (said.tool_calls) {
          said = { role: 'assistant', content: '' }
          messages.push(said)
        }
        said.content += part.text
        continue
      }
      const { id, name, args = {}, result } = part.call
      const call = { id, name, args: args as Record<string, unknown>, type: 'tool_call' as const }
      said.tool_calls = [...(said.tool_calls ?? []), call]
      const content = result ? textOf(result) : `Error: No result for tool "${name}"`
      messages.push({ role: 'tool', content, tool_call_id: id })
    }
    if (said.tool_calls) messages.push({ role: 'assistant', content: '' })
  }
  return messages
}
