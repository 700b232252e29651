import { type ChildProcess, spawn } from 'node:child_process'
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
/** A killed program exits immediately unless the system itself hangs; we wait no longer than this. */
const GONE_WITHIN_MS = 1_000

/**
 * Runs a program without a shell and returns its output. Rejects with a `Failure`, or when the signal is aborted;
 * by then the program has exited.
 */
export async function runProgram(run: ProgramRun): Promise<Buffer> {
  run.signal.throwIfAborted()
  const child = start(run)
  const gone = new Promise<void>(resolve => child.on('close', () => resolve()))
  const limits = watchLimits(run)
  try {
    return await Promise.race([outputOf(child, run), limits.exceeded])
  } catch (error) {
    await kill(child, gone, run.clock)
    throw error
  } finally {
    limits.release()
  }
}

function start(run: ProgramRun): ChildProcess {
  const { program, args, environment } = run
  try {
    return spawn(program, args, { stdio: 'pipe', env: environment ?? process.env, windowsHide: true })
  } catch (error) {
    throw failure(run, explainStart(error as NodeJS.ErrnoException), error)
  }
}

/** `exceeded` rejects at the deadline or when the signal is aborted. */
function watchLimits(run: ProgramRun): { exceeded: Promise<never>; release(): void } {
  const { signal, deadlineMs, clock = systemClock } = run
  let release = () => {}
  const exceeded = new Promise<never>((_, reject) => {
    const seconds = Number((deadlineMs / 1_000).toFixed(2))
    const onAbort = () => reject(signal.reason)
    const timer = clock.setTimer(
      () => reject(failure(run, `did not finish within ${seconds} s.`)),
      deadlineMs,
    )
    signal.addEventListener('abort', onAbort, { once: true })
    release = () => {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
    }
  })
  return { exceeded, release }
}

function outputOf(child: ChildProcess, run: ProgramRun): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (text: string, cause?: unknown) => reject(failure(run, text, cause))
    child.on('error', error => fail(explainStart(error), error))
    const output = collect(child, () => fail(`wrote more than ${MOST_OUTPUT_MB} MB and was killed.`))
    const lastLine = watchErrors(child)
    child.on('close', (code, killedBy) => {
      if (code === 0) resolve(Buffer.concat(output))
      else fail(`failed (${killedBy ?? `exit code ${code}`})${lastLine()}`)
    })
    // If a program exits before reading everything, its exit code says whether that is a failure.
    child.stdin?.on('error', () => {}).end(run.input ?? '')
  })
}

function collect(child: ChildProcess, onTooMuch: () => void): Buffer[] {
  const output: Buffer[] = []
  let size = 0
  child.stdout?.on('data', (bytes: Buffer) => {
    size += bytes.length
    if (size > MOST_OUTPUT_MB * 1_000_000) return onTooMuch()
    output.push(bytes)
  })
  return output
}

/** Returns the program's last line on stderr, as the end of a sentence. */
function watchErrors(child: ChildProcess): () => string {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT_CHARACTERS)
  })
  return () => {
    const line = stderr.split(/[\r\n]+/).findLast(one => one.trim())
    return line ? `: ${line.trim().replace(/\p{Cc}/gu, ' ')}` : '.'
  }
}

async function kill(child: ChildProcess, gone: Promise<void>, clock: Clock = systemClock): Promise<void> {
  if (child.pid === undefined) return
  child.kill('SIGKILL')
  // Its own children may hold them open forever.
  child.stdout?.destroy()
  child.stderr?.destroy()
  await new Promise<void>(resolve => {
    const timer = clock.setTimer(resolve, GONE_WITHIN_MS)
    void gone.then(() => {
      timer.cancel()
      resolve()
    })
  })
}

function failure({ program, Failure }: ProgramRun, text: string, cause?: unknown): Error {
  return new Failure(`${program} ${text}`, { cause })
}

function explainStart(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'is not installed, or not on the PATH.'
  if (error.code === 'EACCES') return 'is not executable.'
  return `could not be started: ${error.message}`
}
