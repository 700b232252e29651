import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { PlainMessage } from '../models/ai-client.ts'
import { isRecord } from '../util/guards.ts'
import type { ChatTurn, ConversationRecord } from './api-types.ts'
import type { GatewaySource } from './context.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_TURNS, MAX_CONVERSATION_NAME } from './limits.ts'

/** `owner`: the client it belongs to. */
type StoredConversation = ConversationRecord & { owner: string }

/** Past chat conversations: in memory, and in a file each beside the history if there is one. */
export class ChatArchive {
  readonly #source: GatewaySource
  readonly #logger: Logger
  readonly #kept = new Map<string, StoredConversation>()
  #reading: Promise<void> | undefined
  /** One write after another, so that the later of two wins. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(source: GatewaySource, logger: Logger) {
    this.#source = source
    this.#logger = logger
  }

  /** The conversations of a client, newest first. */
  async list(owner: string): Promise<StoredConversation[]> {
    const folder = this.#folder()
    if (folder !== undefined) this.#reading ??= this.#read(folder)
    await this.#reading
    const own = [...this.#kept.values()].filter(each => each.owner === owner)
    return own.sort((a, b) => b.updatedAt - a.updatedAt)
  }

  async get(owner: string, id: string): Promise<StoredConversation | undefined> {
    return (await this.list(owner)).find(each => each.id === id)
  }

  /** `turns` replace those the conversation had. The oldest conversations of a client are dropped. */
  async keep(owner: string, id: string, turns: readonly ChatTurn[]): Promise<void> {
    const [first] = turns
    const { name = nameFrom(first?.question ?? ''), createdAt = first?.askedAt ?? Date.now() } =
      (await this.get(owner, id)) ?? {}
    this.#put({ id, owner, name, createdAt, updatedAt: Date.now(), turns: bounded(turns) })
    for (const old of (await this.list(owner)).slice(KEPT_CONVERSATIONS)) await this.remove(owner, old.id)
  }

  async rename(owner: string, id: string, name: string): Promise<StoredConversation | undefined> {
    const known = await this.get(owner, id)
    if (known) this.#put({ ...known, name: nameFrom(name) })
    return this.get(owner, id)
  }

  async remove(owner: string, id: string): Promise<boolean> {
    if (!(await this.get(owner, id))) return false
    this.#kept.delete(id)
    this.#write(folder => rm(join(folder, fileOf(id)), { force: true }))
    return true
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await this.#writing
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

  #folder(): string | undefined {
    const { file } = this.#source.history?.()?.status() ?? {}
    return file === undefined ? undefined : join(dirname(file), 'conversations')
  }

  #write(action: (folder: string) => Promise<void>): void {
    const folder = this.#folder()
    const failed = (error: unknown) =>
      this.#logger.warn({ error: safeText(String(error)) }, 'Could not save a conversation')
    if (folder !== undefined) this.#writing = this.#writing.then(() => action(folder)).catch(failed)
  }

  /** Files that are malformed are ignored. */
  async #read(folder: string): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      const read = async () => JSON.parse(await readFile(join(folder, name), 'utf8')) as unknown
      const found = name.endsWith('.json') ? await read().catch(() => undefined) : undefined
      if (isStored(found) && fileOf(found.id) === name && !this.#kept.has(found.id))
        this.#kept.set(found.id, found)
    }
  }
}

function isStored(value: unknown): value is StoredConversation {
  if (!isRecord(value) || !Array.isArray(value.turns)) return false
  const isTurn = (turn: unknown) => isRecord(turn) && Array.isArray(turn.parts) && isRecord(turn.end)
  return (
    [value.id, value.owner, value.name].every(text => typeof text === 'string') && value.turns.every(isTurn)
  )
}

/** The ids of a named client are `<name>/<uuid>`. */
function fileOf(id: string): string {
  return `${id.slice(id.lastIndexOf('/') + 1)}.json`
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

/** Turns as messages for a model: text, calls and their results. Stopped and failed answers are left out. */
export function messagesOf(
  turns: readonly ChatTurn[],
  textOf: (result: ToolResult) => string,
): PlainMessage[] {
  const answered = turns.filter(({ end }) => end.stopReason !== 'stopped' && end.stopReason !== 'error')
  return answered.flatMap(({ question, parts }) => {
    const messages: PlainMessage[] = [{ role: 'user', content: question }]
    let said: PlainMessage | undefined
    // Text after calls begins another message, and an answer ends with one.
    for (const part of [...parts, { kind: 'text' as const, text: '' }]) {
      if (!said || (part.kind === 'text' && said.tool_calls)) {
        said = { role: 'assistant', content: '' }
        messages.push(said)
      }
      if (part.kind === 'text') {
        said.content += part.text
        continue
      }
      const { id, name, args = {}, result } = part.call
      const call = { id, name, args: args as Record<string, unknown>, type: 'tool_call' as const }
      said.tool_calls = [...(said.tool_calls ?? []), call]
      const content = result ? textOf(result) : `Error: No result for tool "${name}"`
      messages.push({ role: 'tool', content, tool_call_id: id })
    }
    return messages
  })
}
