import { type ExecFileException, execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  /** Written to its stdin. */
  readonly input?: string | Uint8Array | undefined
  readonly signal: AbortSignal
  /** It is killed after this time. */
  readonly deadlineMs: number
  /** The error class for failures; messages begin with the program's name. */
  readonly Failure: ErrorClass
}

type ErrorClass = new (message: string, options?: ErrorOptions) => Error

const MOST_OUTPUT_MB = 64
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'is not installed, or not on the PATH.',
  EACCES: 'is not executable.',
  ERR_CHILD_PROCESS_STDIO_MAXBUFFER: `wrote more than ${MOST_OUTPUT_MB} MB and was killed.`,
}

/** Runs a program without a shell and returns its output. Rejects with a `Failure`, or when the signal is aborted. */
export async function runProgram(run: ProgramRun): Promise<Buffer> {
  const { program, args, input = '', signal, deadlineMs, Failure } = run
  signal.throwIfAborted()
  const timeout = Math.ceil(deadlineMs)
  const options = { signal, timeout, killSignal: 'SIGKILL', windowsHide: true, encoding: 'buffer' } as const
  const maxBuffer = MOST_OUTPUT_MB * 1_000_000
  return new Promise<Buffer>((resolve, reject) => {
    const onEnd = (error: ExecFileException | null, output: Buffer, stderr: Buffer) => {
      if (!error) return resolve(output)
      if (signal.aborted) return reject(signal.reason)
      const lines = String(stderr).split(/[\r\n]+/)
      const line = lines.findLast(one => one.trim())?.trim()
      const words = line ? `: ${line.replace(/\p{Cc}/gu, ' ')}` : '.'
      const late = `did not finish within ${Number((timeout / 1_000).toFixed(2))} s.`
      const failed = error.killed ? late : `failed (${error.signal ?? `exit code ${error.code}`})${words}`
      reject(new Failure(`${program} ${REASONS[String(error.code)] ?? failed}`, { cause: error }))
    }
    const child = execFile(program, args, { ...options, maxBuffer }, onEnd)
    // If a program exits before reading everything, its exit code says whether that is a failure.
    child.stdin?.on('error', () => {}).end(input)
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
