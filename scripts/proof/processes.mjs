// The processes of the proof. Each may be killed at any time and is then restarted.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Runs a script in this folder; `prefix` is a command that enters a network namespace. */
function start(script, args, { prefix = [] } = {}) {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const [program, ...rest] = [...prefix, process.execPath, file, ...args]
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  return child
}

/** Kills a process unless it has exited; resolves when it has. */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

export class Worker {
  kills = 0
  #args
  #options
  #child

  constructor(args, options) {
    this.#args = args
    this.#options = options
    this.#start()
  }

  #start() {
    this.#child = start('worker.mjs', this.#args, this.#options)
    this.isUp = false
    this.ready = new Promise(resolve => createInterface({ input: this.#child.stdout }).once('line', resolve))
    this.ready.then(() => {
      this.isUp = true
    })
  }

  /** Kills and restarts it. */
  kill() {
    this.kills++
    this.#child.kill('SIGKILL')
    this.#start()
  }

  signal = name => this.#child.kill(name)

  stop = () => end(this.#child)
}

/** Sends calls, and resends them with the same key after the gateway was restarted. */
export class Gateway {
  kills = 0
  resent = 0
  refused = 0
  #args
  #child
  #waiting = new Map()

  constructor(args) {
    this.#args = args
    this.#start()
  }

  #start() {
    const child = start('gateway.mjs', this.#args)
    this.#child = child
    this.ready = new Promise(resolve =>
      createInterface({ input: child.stdout }).on('line', line => {
        const message = JSON.parse(line)
        if (message.state) {
          resolve(message.state)
          for (const { resolve: _, ...call } of this.#waiting.values()) this.#send(call)
        } else this.#answer(message)
      }),
    )
  }

  /** With `other`, the key is used for other arguments. */
  call(id, tool, { other } = {}) {
    return new Promise(resolve => {
      this.#waiting.set(id, { id, tool, other, resolve })
      this.#send({ id, tool, other })
    })
  }

  kill() {
    this.kills++
    this.resent += this.#waiting.size
    this.#child.kill('SIGKILL')
    this.#start()
  }

  #send(call) {
    this.#child.stdin.write(`${JSON.stringify(call)}\n`)
  }

  #answer({ id, other, result }) {
    const call = this.#waiting.get(id)
    // A call that was resent is answered twice if the killed gateway's answer was already under way.
    if (!call || call.other !== other) return
    const isConflict = call.other !== undefined && result.code === 'invalid_arguments'
    if (!result.success && result.run_id === undefined && !isConflict) {
      // Not accepted, because the database is gone: the caller retries.
      this.refused++
      setTimeout(() => this.#waiting.has(id) && this.#send({ id, tool: call.tool, other: call.other }), 200)
      return
    }
    this.#waiting.delete(id)
    call.resolve(result)
  }

  stop = () => end(this.#child)
}
