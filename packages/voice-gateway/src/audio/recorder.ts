import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Clock, Timer } from 'toolpost'
import { platform as currentPlatform } from '../programs/platform.ts'

/** A program that writes what it records to stdout: raw, 16 kHz, mono, 16 bits, little-endian. */
export interface RecorderCommand {
  command: string
  args: readonly string[]
}

/** The recorder of this machine, or why there is none. */
export type FoundMicrophone = { command: RecorderCommand } | { missing: string }

interface RecorderOptions {
  command: RecorderCommand
  clock: Clock
  /** Called with the next chunk of sound; no more is read until it resolves. */
  onBytes(bytes: Uint8Array): Promise<void>
  /** The recorder exited, for this reason, and will be restarted. */
  onEnd(reason: string): void
}

const ARECORD: RecorderCommand = {
  command: 'arecord',
  args: ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', '16000', '-c', '1'],
}
const REC: RecorderCommand = {
  command: 'rec',
  args: ['-q', '-t', 'raw', '-r', '16000', '-c', '1', '-e', 'signed-integer', '-b', '16', '-L', '-'],
}
const NO_DEVICE = 'arecord lists no device: connect a microphone and check arecord -l'
const ANSWERS_WITHIN_MS = 5_000
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000
/** A recorder that ran this long was healthy: the delays start over. */
const IS_WELL_AFTER_MS = 10_000
const KEPT_ERROR_LENGTH = 300

/** Runs a recorder and restarts it with growing delays whenever it exits, until closed. */
export class Recorder {
  /** Resolves with the first sound; rejects if the first run ends without any, or if closed before. */
  readonly ready: Promise<void>
  readonly #options: RecorderOptions
  #settleReady: { resolve(): void; reject(error: Error): void } | undefined
  #process: ChildProcess | undefined
  #ending: Promise<string> | undefined
  #timer: Timer | undefined
  #delayMs = FIRST_DELAY_MS
  #isClosed = false

  constructor(options: RecorderOptions) {
    this.#options = options
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    // If nobody awaits it, `onEnd` reports the same.
    this.ready.catch(() => {})
    void this.#run()
  }

  /** Resolves when the program has exited, whether or not all its sound was consumed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#settleReady?.reject(new Error('The microphone was closed'))
    this.#process?.kill('SIGKILL')
    // A process emits `close` only once its output has been read to the end or destroyed.
    this.#process?.stdout?.destroy()
    await this.#ending
  }

  async #run(): Promise<void> {
    const { command, clock, onEnd } = this.#options
    const startedAt = clock.now()
    const reason = await this.#record(command)
    if (this.#isClosed) return
    if (clock.now() - startedAt >= IS_WELL_AFTER_MS) this.#delayMs = FIRST_DELAY_MS
    this.#timer = clock.setTimer(() => void this.#run(), this.#delayMs)
    this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS)
    const words = `The microphone recorder (${command.command}) exited: ${reason}`
    this.#settleReady?.reject(new Error(words))
    onEnd(words)
  }

  /** Runs the program until it exits; resolves with the tail of its stderr, else its exit code or signal. */
  async #record({ command, args }: RecorderCommand): Promise<string> {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    let words = ''
    child.stderr.on('data', text => {
      words = `${words}${text}`.slice(-KEPT_ERROR_LENGTH)
    })
    child.on('error', error => {
      words = error.message
    })
    this.#process = child
    // A program that cannot be started emits `close` too.
    this.#ending = new Promise(resolve =>
      child.on('close', (code, signal) =>
        resolve(words.trim().replace(/\s+/g, ' ') || (signal ?? `exit code ${code}`)),
      ),
    )
    try {
      for await (const bytes of child.stdout) {
        if (this.#isClosed) break
        this.#settleReady?.resolve()
        await this.#options.onBytes(bytes)
      }
    } catch {
      // The pipe broke with the program, whose exit says why.
    }
    return this.#ending
  }
}

/** Finds `arecord` if it lists a device, or sox's `rec` if there is no `arecord`. */
export async function findMicrophone(
  options: { platform?: NodeJS.Platform | undefined; env?: NodeJS.ProcessEnv | undefined } = {},
): Promise<FoundMicrophone> {
  const { platform = currentPlatform, env = process.env } = options
  const devices = platform === 'linux' ? await outputOf('arecord', ['-l'], env) : undefined
  // If arecord finds no device, rec would find none either.
  if (devices !== undefined)
    return /^card \d+:/m.test(devices) ? { command: ARECORD } : { missing: NO_DEVICE }
  if ((await outputOf('rec', ['--version'], env)) !== undefined) return { command: REC }
  const programs = platform === 'linux' ? 'alsa-utils (arecord) or sox (rec)' : 'sox (rec)'
  return { missing: `no recorder found: install ${programs}` }
}

/** A program's output, in English; undefined if it cannot be run. */
function outputOf(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const options = { env: { ...env, LC_ALL: 'C' }, timeout: ANSWERS_WITHIN_MS, windowsHide: true }
  return new Promise(resolve => {
    // arecord reports "no soundcards found" with an exit code, although it is installed.
    execFile(command, args, options, (error, stdout) =>
      resolve(error && typeof error.code === 'string' ? undefined : stdout),
    )
  })
}
