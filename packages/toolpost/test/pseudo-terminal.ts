import { spawn, spawnSync } from 'node:child_process'
import { expect } from 'vitest'

const PATIENCE = { interval: 20, timeout: 15_000 }

/** Whether util-linux's `script` is here, which gives a program a terminal. */
export const hasPseudoTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true

/** Runs a program of Node on a terminal of its own. */
export function onTerminal(
  words: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
) {
  const command = ['env', ...Object.entries(env).map(pair => pair.join('=')), process.execPath, ...words]
    .map(quoted)
    .join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd })
  let shown = ''
  child.stdout.on('data', chunk => {
    shown += String(chunk).replaceAll('\r', '')
  })
  const exit = new Promise<number | null>(resolve => child.once('close', resolve))
  return {
    exit,
    shown: () => shown,
    /** Resolves when `text` has been shown so many times. */
    sees: (text: string, times = 1) =>
      expect.poll(() => shown.split(text).length - 1, PATIENCE).toBeGreaterThanOrEqual(times),
    types: (text: string) => void child.stdin.write(text),
    /** Closes the terminal, as a window is closed. */
    hangUp: () => void child.kill('SIGKILL'),
    async [Symbol.asyncDispose]() {
      child.kill()
      await exit
    },
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
