import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PIPELINED, MAX_PIPELINED_IN_ALL } from '../limits.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Answers the requests of a connection one after the other, with everybody else in between: a client may send thousands
 * without waiting for the answers, which Node would begin all at once. From a client that is far ahead nothing more is read.
 */
export function oneAtATime(listener: Listener): Listener {
  const lines = new WeakMap<Socket, Line>()
  const all = { waiting: 0 }
  return (request, response) => {
    // Its connection is its own as soon as those before it are answered.
    if (response.socket) return listener(request, response)
    const { socket } = request
    const line = lines.get(socket) ?? new Line(socket, all)
    lines.set(socket, line)
    line.join()
    response.once('socket', () => {
      line.leave()
      setImmediate(listener, request, response)
    })
  }
}

/** The requests of one connection that wait for those before them. */
class Line {
  readonly #socket: Socket
  readonly #all: { waiting: number }
  #waiting = 0

  constructor(socket: Socket, all: { waiting: number }) {
    this.#socket = socket
    this.#all = all
    // Node resumes a connection whenever a body has been read.
    socket.on('resume', () => this.#holdBack())
    socket.once('close', () => this.#count(-this.#waiting))
  }

  join(): void {
    this.#count(1)
    // What has been read cannot be given back, and all of it takes memory.
    if (this.#all.waiting > MAX_PIPELINED_IN_ALL) this.#socket.destroy()
    else this.#holdBack()
  }

  leave(): void {
    this.#count(-1)
    if (this.#waiting === 0) this.#socket.resume()
  }

  #holdBack(): void {
    if (this.#waiting > MAX_PIPELINED) this.#socket.pause()
  }

  #count(more: number): void {
    this.#waiting += more
    this.#all.waiting += more
  }
}
