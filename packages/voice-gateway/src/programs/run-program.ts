import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from 'toolpost'

export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  /** Written to its stdin. */
  readonly input?: string | Uint8Array | undefined
  readonly signal: AbortSignal
  /** It is killed after this time. */
  readonly deadlineMs: number
  readonly environment?: NodeJS.ProcessEnv | undefined
  /** The error class for failures; messages begin with the program's name. */
  readonly Failure: new (
    message: string,
    options?: ErrorOptions,
  ) => Error
  readonly clock?: Clock | undefined
}

const STDERR_KEPT_CHARACTERS = 4_000
const MOST_OUTPUT_MB = 64

/**
 * Runs a program without a shell and returns its output. Rejects with a `Failure`, or when the signal is aborted;
 * by then the program has been killed.
 */
export async function runProgram(run: ProgramRun): Promise<Buffer> {
  const { program, args, input = '', signal, deadlineMs, environment, Failure, clock = systemClock } = run
  signal.throwIfAborted()
  const fail = (text: string, cause?: unknown) => new Failure(`${program} ${text}`, { cause })
  const child = spawn(program, args, { stdio: 'pipe', env: environment ?? process.env, windowsHide: true })
  const seconds = Number((deadlineMs / 1_000).toFixed(2))
  return new Promise<Buffer>((resolve, reject) => {
    const output: Buffer[] = []
    let size = 0
    let stderr = ''
    const stop = (error: unknown) => {
      kill(child)
      settle(() => reject(error))
    }
    const onAbort = () => stop(signal.reason)
    const timer = clock.setTimer(() => stop(fail(`did not finish within ${seconds} s.`)), deadlineMs)
    const settle = (finish: () => void) => {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      finish()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.stdout.on('data', (bytes: Buffer) => {
      size += bytes.length
      if (size > MOST_OUTPUT_MB * 1_000_000)
        stop(fail(`wrote more than ${MOST_OUTPUT_MB} MB and was killed.`))
      else output.push(bytes)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT_CHARACTERS)
    })
    child.on('error', error => settle(() => reject(fail(explainStart(error), error))))
    child.on('close', (code, killedBy) => {
      const line = stderr.split(/[\r\n]+/).findLast(one => one.trim())
      const words = line ? `: ${line.trim().replace(/\p{Cc}/gu, ' ')}` : '.'
      if (code === 0) settle(() => resolve(Buffer.concat(output)))
      else settle(() => reject(fail(`failed (${killedBy ?? `exit code ${code}`})${words}`)))
    })
    // If a program exits before reading everything, its exit code says whether that is a failure.
    child.stdin.on('error', () => {}).end(input)
  })
}

/** Provides the path of a WAV file that does not exist yet; it is always removed afterwards. */
export async function withTemporaryWav<T>(use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'voice-gateway-'))
  try {
    return await use(join(folder, 'speech.wav'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function kill(child: ChildProcess): void {
  child.kill('SIGKILL')
  // Its own children may hold them open forever.
  child.stdout?.destroy()
  child.stderr?.destroy()
}

function explainStart(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'is not installed, or not on the PATH.'
  return error.code === 'EACCES' ? 'is not executable.' : `could not be started: ${error.message}`
}
