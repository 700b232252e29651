import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The file that a shell would run for this name, or undefined. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name)
    if (folder !== '' && (await isExecutable(file))) return file
  }
  return undefined
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

export interface RunOptions {
  env: NodeJS.ProcessEnv
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Runs a program without a shell and gives its stdout; rejects with what it said when it fails or is too slow. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const { execFile } = await import('node:child_process')
  const { env, timeoutMs, signal } = options
  return new Promise((resolve, reject) => {
    // SIGKILL: a program that waits for a dead sound server may not listen to anything less.
    const settings = {
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      ...(signal ? { signal } : {}),
    } as const
    execFile(file, [...args], settings, (error, stdout, stderr) => {
      if (!error) resolve(stdout)
      else reject(new Error(reasonOf(error, { timeoutMs, output: stderr || stdout }), { cause: error }))
    })
  })
}

function reasonOf(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  { timeoutMs, output }: { timeoutMs: number; output: string },
): string {
  if (error.killed && error.signal === 'SIGKILL') return `no answer within ${timeoutMs / 1000} s`
  const said = output.trim().split('\n')[0]?.trim()
  return said || (typeof error.code === 'number' ? `exit code ${error.code}` : error.message)
}
