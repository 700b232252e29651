import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PIPELINED, MAX_PIPELINED_IN_ALL } from '../limits.ts'

/**
 * Handles the requests of a connection one at a time, with others in between: a client may pipeline thousands, which Node
 * would start all at once. A client that is far ahead is not read from.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Line>()
  const all = { waiting: 0 }
  return (request, response) => {
    // A response gets the socket once those before it are done.
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

/** The waiting requests of one connection. */
class Line {
  readonly #socket: Socket
  readonly #all: { waiting: number }
  #waiting = 0

  constructor(socket: Socket, all: { waiting: number }) {
    this.#socket = socket
    this.#all = all
    // Node resumes the connection whenever a body has been read.
    socket.on('resume', () => this.#holdBack())
    socket.once('close', () => this.#count(-this.#waiting))
  }

  join(): void {
    this.#count(1)
    // What has been read takes memory and cannot be pushed back.
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
