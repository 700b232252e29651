import { rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ToolResult } from '../call/tool-result.ts'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import type { PlainMessage } from '../models/ai-client.ts'
import { isRecord } from '../util/guards.ts'
import { writePrivate } from '../util/private-file.ts'
import { quietly } from '../util/quietly.ts'
import type { ChatTurn, ConversationRecord } from './api-types.ts'
import type { GatewaySource } from './context.ts'
import { KEPT_CHARACTERS, KEPT_CONVERSATIONS, KEPT_TURNS } from './limits.ts'

/** `owner`: the client it belongs to. `dialogue`: what sentences remember after a turn; not saved. */
export type StoredConversation = Omit<ConversationRecord, 'turns'> & {
  owner: string
  turns: (ChatTurn & { dialogue?: unknown })[]
}

/** Past chat conversations: in memory, and in a file each beside the history if there is one. */
export class ChatArchive {
  readonly #source: GatewaySource
  readonly #logger: Logger
  readonly #kept = new Map<string, StoredConversation>()
  #reading: Promise<void> | undefined

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

  /** Drops the first turns if it is too long, and the oldest conversations of its client if there are too many. */
  async keep(conversation: StoredConversation): Promise<void> {
    let turns = conversation.turns.slice(-KEPT_TURNS)
    while (turns.length > 1 && JSON.stringify(turns).length > KEPT_CHARACTERS) turns = turns.slice(1)
    const kept = { ...conversation, turns }
    const text = JSON.stringify(kept, (key, value) => (key === 'dialogue' ? undefined : value))
    this.#kept.set(kept.id, kept)
    this.#save(kept.id, file => writePrivate(file, text))
    for (const { id } of (await this.list(kept.owner)).slice(KEPT_CONVERSATIONS)) this.remove(id)
  }

  remove(id: string): void {
    this.#kept.delete(id)
    this.#save(id, file => rmSync(file, { force: true }))
  }

  #folder(): string | undefined {
    const { file } = this.#source.history?.()?.status() ?? {}
    return file === undefined || file === ':memory:' ? undefined : join(dirname(file), 'conversations')
  }

  #save(id: string, action: (file: string) => void): void {
    const folder = this.#folder()
    const failed = (error: unknown) =>
      this.#logger.warn({ error: safeText(String(error)) }, 'Could not save a conversation')
    if (folder !== undefined) quietly(() => action(join(folder, fileOf(id))), failed)
  }

  /** File by file, so that others have their turn in between. Those that are malformed are ignored. */
  async #read(folder: string): Promise<void> {
    for (const name of await readdir(folder).catch(() => []))
      await this.#readFile(folder, name).catch(() => {})
  }

  async #readFile(folder: string, name: string): Promise<void> {
    const found: StoredConversation = JSON.parse(await readFile(join(folder, name), 'utf8'))
    const isWhole = found.turns.every(({ end, parts }) => isRecord(end) && Array.isArray(parts))
    if (isWhole && fileOf(found.id) === name && !this.#kept.has(found.id)) this.#kept.set(found.id, found)
  }
}

/** The ids of a named client are `<name>/<uuid>`. */
function fileOf(id: string): string {
  return `${id.slice(id.lastIndexOf('/') + 1)}.json`
}

/** Turns as messages for a model: text, calls and their results. Stopped and failed answers are left out. */
export function messagesOf(
  turns: StoredConversation['turns'],
  textOf: (result: ToolResult) => string,
): PlainMessage[] {
  const answered = turns.filter(({ end }) => end.stopReason !== 'stopped' && end.stopReason !== 'error')
  return answered.flatMap(({ question, parts, dialogue }) => {
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
    Object.assign(said ?? {}, { dialogue })
    return messages
  })
}
