import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Everything on stderr so far. */
  stderr(): string
  /** Resolves when stderr has this text, now or later. */
  logged(text: string): Promise<void>
  /** Resolves with the exit code, or the signal. */
  readonly exit: Promise<number | string | null>
}

/** Starts a program that ends with the test at the latest. */
export function startChild(
  program: string,
  { args = [] as string[], env = {} as NodeJS.ProcessEnv } = {},
): Child {
  const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env.PATH, ...env } })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    process: child,
    stderr: () => stderr,
    logged: async text => {
      while (!stderr.includes(text)) await once(child.stderr, 'data')
    },
    exit: once(child, 'exit').then(([code, signal]) => code ?? signal),
  }
}
