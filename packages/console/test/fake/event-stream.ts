import type { IncomingMessage, ServerResponse } from 'node:http'

/** What happens, told to everybody who listens, and to those who come back from where they were. */
export class EventStream {
  readonly #listeners = new Set<ServerResponse>()
  readonly #events: string[] = []

  send(event: string, data: unknown): void {
    this.#events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\nid: ${this.#events.length + 1}\n\n`)
    this.sendRaw(this.#events.at(-1) ?? '')
  }

  /** To everybody who listens now, as it is. */
  sendRaw(text: string): void {
    for (const listener of this.#listeners) listener.write(text)
  }

  listen(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write(': welcome\n\n')
    const last = Number(request.headers['last-event-id'] ?? this.#events.length)
    for (const event of this.#events.slice(last)) response.write(event)
    this.#listeners.add(response)
    response.on('close', () => this.#listeners.delete(response))
  }

  forgetListeners(): void {
    this.#listeners.clear()
  }
}
