import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const bin = (name: string) => fileURLToPath(new URL(`../../bin/${name}.js`, import.meta.url))
export const programs = { server: bin('zwave-mcp-server'), home: bin('zwave-home') }

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Everything on stderr so far. */
  stderr(): string
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
  const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
  return { process: child, stderr: () => stderr, exit }
}
