import { type ExecFileOptions, execFile } from 'node:child_process'

/** Runs a program to its end; rejects with what it said if it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<{ stdout: string }> {
  return new Promise((resolve, reject) =>
    execFile(
      program,
      args,
      { encoding: 'utf8', timeout: 60_000, cwd: '/', ...options },
      (error, stdout, stderr) => {
        if (!error) return resolve({ stdout: String(stdout) })
        const said = `${stderr}${stdout}`.trim().split('\n').slice(-4).join(' ')
        reject(new Error(said || error.message))
      },
    ),
  )
}
