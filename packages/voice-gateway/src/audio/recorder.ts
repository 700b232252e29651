import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Clock, Timer } from 'toolpost'
import { platform as currentPlatform } from '../programs/platform.ts'

/** A program that writes what it records to stdout: raw, 16 kHz, mono, 16 bits, little-endian. */
export type RecorderCommand = { command: string; args: readonly string[] }

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

const ARECORD = { command: 'arecord', args: '-q -t raw -f S16_LE -r 16000 -c 1'.split(' ') }
const REC = { command: 'rec', args: '-q -t raw -r 16000 -c 1 -e signed-integer -b 16 -L -'.split(' ') }
const NO_DEVICE = 'arecord lists no device: connect a microphone and check arecord -l'
const ANSWERS_WITHIN_MS = 5_000
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000
/** A recorder that ran this long was healthy: the delays start over. */
const IS_WELL_AFTER_MS = 10_000
const KEPT_ERROR_LENGTH = 300

/**
 * Runs a recorder and restarts it with growing delays whenever it exits, until closed. `ready` resolves with the first
 * sound, and rejects if the first run ends without any.
 */
export function startRecorder({ command: { command, args }, clock, onBytes, onEnd }: RecorderOptions) {
  let child: ChildProcess | undefined
  let ending: Promise<string> | undefined
  let timer: Timer | undefined
  let isClosed = false
  let settle = { resolve: () => {}, reject: (_: Error) => {} }
  const ready = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // If nobody awaits it, `onEnd` reports the same.
  ready.catch(() => {})

  /** Runs the program until it exits; resolves with the tail of its stderr, else its exit code or signal. */
  const record = async (): Promise<string> => {
    const recorder = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
    child = recorder
    let words = ''
    recorder.stderr.on('data', text => {
      words = `${words}${text}`.slice(-KEPT_ERROR_LENGTH)
    })
    recorder.on('error', error => {
      words = error.message
    })
    ending = new Promise(resolve =>
      recorder.on('close', (code, signal) =>
        resolve(words.trim().replace(/\s+/g, ' ') || (signal ?? `exit code ${code}`)),
      ),
    )
    try {
      for await (const bytes of recorder.stdout) {
        if (isClosed) break
        settle.resolve()
        await onBytes(bytes)
      }
    } catch {
      // The pipe broke with the program, whose exit says why.
    }
    return ending
  }
  const run = async (delayMs: number): Promise<void> => {
    const startedAt = clock.now()
    const reason = `The microphone recorder (${command}) exited: ${await record()}`
    if (isClosed) return
    const isWell = clock.now() - startedAt >= IS_WELL_AFTER_MS
    const pauseMs = isWell ? FIRST_DELAY_MS : delayMs
    timer = clock.setTimer(() => void run(Math.min(pauseMs * 2, LONGEST_DELAY_MS)), pauseMs)
    settle.reject(new Error(reason))
    onEnd(reason)
  }
  void run(FIRST_DELAY_MS)

  /** Resolves when the program has exited, whether or not all its sound was consumed. */
  const close = async () => {
    isClosed = true
    timer?.cancel()
    settle.reject(new Error('The microphone was closed'))
    child?.kill('SIGKILL')
    // A process emits `close` only once its output has been read to the end or destroyed.
    child?.stdout?.destroy()
    await ending
  }
  return { ready, close }
}

/** Finds `arecord` if it lists a device, or sox's `rec` if there is no `arecord`. */
export async function findMicrophone({
  platform = currentPlatform,
  env = process.env,
} = {}): Promise<FoundMicrophone> {
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
