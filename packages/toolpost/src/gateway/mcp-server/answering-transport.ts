import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/** The SDK's stdio transport, which also tracks the requests that have not been answered yet. */
export class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<unknown>()
  #onIdle = () => {}
  #onClosed = () => {}

  /** Resolves when the connection is closed. */
  readonly whenClosed: Promise<void>

  constructor(stdin: Readable, stdout: Writable) {
    super(stdin, stdout)
    this.whenClosed = new Promise(resolve => {
      this.#onClosed = resolve
    })
  }

  /** Resolves when every request so far has been answered, or after `maxMs`. */
  whenAnswered(maxMs: number): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, maxMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  override start(): Promise<void> {
    const deliver = this.onmessage
    this.onmessage = message => {
      this.#received(message)
      deliver?.(message)
    }
    return super.start()
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message)
    if (!('method' in message)) this.#settled(message.id)
  }

  override async close(): Promise<void> {
    await super.close()
    this.#onClosed()
  }

  #received(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      // A subscription stays open for as long as the client is connected.
      if (message.method !== 'subscriptions/listen') this.#open.add(message.id)
    }
    // A cancelled request gets no answer.
    else if (message.method === 'notifications/cancelled') this.#settled(message.params?.requestId)
  }

  #settled(id: unknown): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#onIdle()
  }
}
