import type { ConversationInfo, ModelInfo } from 'toolpost/gateway'
import { listConversations, listModels, removeConversation, renameConversation } from '../api/chat-api.ts'
import { messageOf } from '../text/message-of.ts'
import { coalesced } from './coalesced.ts'
import { Store } from './store.ts'

interface ConversationsState {
  /** Newest first; `undefined` until first read. */
  list: ConversationInfo[] | undefined
  /** The models to choose from. */
  models: ModelInfo[]
  problem: string | undefined
}

/** The conversations that the gateway keeps, and the models that can answer. */
class Conversations extends Store<ConversationsState> {
  readonly refresh = coalesced(async () => this.update({ list: await listConversations() }))
  readonly refreshModels = coalesced(async () => this.update({ models: await listModels() }))

  constructor() {
    super({ list: undefined, models: [], problem: undefined })
  }

  rename(id: string, name: string): Promise<void> {
    return this.#change(() => renameConversation(id, name))
  }

  remove(id: string): Promise<void> {
    return this.#change(() => removeConversation(id))
  }

  /** Never rejects. */
  async #change(action: () => Promise<void>): Promise<void> {
    this.update({ problem: undefined })
    await action().catch(error => this.update({ problem: messageOf(error) }))
    await this.refresh()
  }
}

export const conversations = new Conversations()
