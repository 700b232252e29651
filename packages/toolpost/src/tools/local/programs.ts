export interface ProgramOptions {
  env: NodeJS.ProcessEnv
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Runs a program from `env.PATH` without a shell and returns its stdout. Rejects with its output if it fails or is too slow. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  const { execFile } = await import('node:child_process')
  const { env, timeoutMs, signal } = options
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    // SIGKILL: a program that waits for a dead sound server may ignore anything less.
    const settings = { env, timeout: timeoutMs, killSignal: 'SIGKILL', windowsHide: true } as const
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      signal?.removeEventListener('abort', end)
      if (!error) resolve(stdout)
      else reject(new Error(reasonOf(error, { timeoutMs, output: stderr || stdout }), { cause: error }))
    })
    // `execFile` would send SIGTERM on its own `signal`, whatever `killSignal` says.
    const end = () => {
      child.kill('SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    signal?.addEventListener('abort', end)
  })
}

/** Whether the error means that there is no such program on the PATH. */
export function isMissingProgram(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } }
  return cause?.code === 'ENOENT' || cause?.code === 'EACCES'
}

function reasonOf(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  { timeoutMs, output }: { timeoutMs: number; output: string },
): string {
  if (error.killed && error.signal === 'SIGKILL') return `no answer within ${timeoutMs / 1000} s`
  const said = output.trim().split('\n')[0]?.trim()
  return said || (typeof error.code === 'number' ? `exit code ${error.code}` : error.message)
}
