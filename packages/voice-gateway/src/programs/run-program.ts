import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, systemClock } from 'toolpost'

export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  /** What it reads from its standard input. */
  readonly input?: string | Uint8Array | undefined
  readonly signal: AbortSignal
  /** It is ended after this time. */
  readonly deadlineMs: number
  readonly environment?: NodeJS.ProcessEnv | undefined
  /** What a failure is; its message begins with the program's name. */
  readonly Failure: new (
    message: string,
    options?: ErrorOptions,
  ) => Error
  readonly clock?: Clock | undefined
}

const STDERR_KEPT_CHARACTERS = 4_000

/** Runs a program without a shell and gives its output. Rejects with a `Failure`, and when the signal is aborted. */
export function runProgram(run: ProgramRun): Promise<Buffer> {
  const { program, args, input, signal, deadlineMs, environment, Failure, clock = systemClock } = run
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const child = spawn(program, args, { stdio: 'pipe', env: environment ?? process.env })
    const finish = (settle: () => void) => {
      timer.cancel()
      signal.removeEventListener('abort', onAbort)
      child.kill('SIGKILL')
      settle()
    }
    const fail = (text: string, cause?: unknown) =>
      finish(() => reject(new Failure(`${program} ${text}`, { cause })))
    const onAbort = () => finish(() => reject(signal.reason))
    const late = () => fail(`did not finish within ${Number((deadlineMs / 1_000).toFixed(2))} s.`)
    const timer = clock.setTimer(late, deadlineMs)
    signal.addEventListener('abort', onAbort, { once: true })
    const { output, lastLine } = collect(child)
    child.on('error', error => fail(explainStart(error), error))
    child.on('close', (code, killedBy) => {
      if (code === 0) finish(() => resolve(Buffer.concat(output)))
      else fail(`failed (${killedBy ?? `exit code ${code}`})${lastLine()}`)
    })
    // A program that ends before it has read everything says so by its exit code.
    child.stdin.on('error', () => {}).end(input ?? '')
  })
}

function collect(child: ChildProcess): { output: Buffer[]; lastLine(): string } {
  const output: Buffer[] = []
  let stderr = ''
  child.stdout?.on('data', (bytes: Buffer) => output.push(bytes))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT_CHARACTERS)
  })
  const lastLine = () => {
    const line = stderr.split(/[\r\n]+/).findLast(one => one.trim())
    return line ? `: ${line.trim().replace(/\p{Cc}/gu, ' ')}` : '.'
  }
  return { output, lastLine }
}

function explainStart(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'is not installed, or not on the PATH.'
  if (error.code === 'EACCES') return 'may not be run.'
  return `could not be started: ${error.message}`
}
