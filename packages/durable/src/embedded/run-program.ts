import { type ExecFileOptions, execFile } from 'node:child_process'

/** How long the output of a program that has exited is still read. */
const LAST_WORDS_MS = 500

/** Runs a program to completion; rejects with its output if it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<{ stdout: string }> {
  return new Promise((resolve, reject) => {
    const settings = { encoding: 'utf8', timeout: 60_000, cwd: '/', windowsHide: true, ...options } as const
    const child = execFile(program, args, settings, (error, stdout, stderr) => {
      if (!error) return resolve({ stdout: String(stdout) })
      const said = `${stderr}${stdout}`.trim().split('\n').slice(-4).join(' ')
      reject(new Error(said || error.message))
    })
    // A process it leaves running may keep its output open: on Windows the server does, for as long as it lives.
    const letGo = () => [child.stdout, child.stderr].forEach(stream => void stream?.destroy())
    child.on('exit', () => setTimeout(letGo, LAST_WORDS_MS).unref())
  })
}
