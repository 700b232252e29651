import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Clock, Timer } from 'toolpost'
import type { RecorderCommand } from './find-microphone.ts'

export interface RecorderOptions {
  command: RecorderCommand
  clock: Clock
  /** Takes the next part of the sound; the recorder is read no further until it resolves. */
  onBytes(bytes: Uint8Array): Promise<void>
  /** The recorder ended and is started again later; the words say why. */
  onEnd(reason: string): void
}

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000
/** A recorder that lived for so long was well: the delays begin anew. */
const IS_WELL_AFTER_MS = 10_000
const KEPT_ERROR_LENGTH = 300

/** Runs a recorder, and starts it again with growing delays whenever it ends, until it is closed. */
export class Recorder {
  /** Resolves with the first sound; rejects when the first run ends without any, or when it is closed before. */
  readonly ready: Promise<void>
  readonly #options: RecorderOptions
  #settleReady: { resolve(): void; reject(error: Error): void } | undefined
  #process: ChildProcessByStdio<null, Readable, Readable> | undefined
  #ending: Promise<string> | undefined
  #timer: Timer | undefined
  #delayMs = FIRST_DELAY_MS
  #isClosed = false

  constructor(options: RecorderOptions) {
    this.#options = options
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    // Whoever waits is told; if nobody does, `onEnd` says the same.
    this.ready.catch(() => {})
    void this.#run()
  }

  /** Resolves when the program is gone, whether or not the sound that it gave was taken. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#settleReady?.reject(new Error('The microphone was closed'))
    this.#process?.kill('SIGKILL')
    // A program counts as gone only when its output was read to the end, or let go.
    this.#process?.stdout.destroy()
    await this.#ending
  }

  async #run(): Promise<void> {
    const { command, clock, onEnd } = this.#options
    const startedAt = clock.now()
    const reason = await this.#record()
    if (this.#isClosed) return
    if (clock.now() - startedAt >= IS_WELL_AFTER_MS) this.#delayMs = FIRST_DELAY_MS
    this.#timer = clock.setTimer(() => void this.#run(), this.#delayMs)
    this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS)
    const words = `The recorder of the microphone, ${command.command}, ended: ${reason}`
    this.#settleReady?.reject(new Error(words))
    onEnd(words)
  }

  /** Runs the program to its end, and says how it came to that. */
  async #record(): Promise<string> {
    const { command, args } = this.#options.command
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    this.#process = child
    this.#ending = endingOf(child)
    await this.#read(child.stdout)
    return this.#ending
  }

  async #read(sound: Readable): Promise<void> {
    try {
      for await (const bytes of sound) {
        if (this.#isClosed) return
        this.#settleReady?.resolve()
        await this.#options.onBytes(bytes)
      }
    } catch {
      // The pipe broke with the program, and the program's end says why.
    }
  }
}

/** Resolves when the program is gone: with its own last words, else its exit code or signal. */
function endingOf(child: ChildProcess): Promise<string> {
  let words = ''
  child.stderr?.on('data', text => {
    words = `${words}${text}`.slice(-KEPT_ERROR_LENGTH)
  })
  child.on('error', error => {
    words = error.message
  })
  // A program that cannot be started closes too.
  return new Promise(resolve =>
    child.on('close', (code, signal) =>
      resolve(words.trim().replace(/\s+/g, ' ') || (signal ?? `exit code ${code}`)),
    ),
  )
}
