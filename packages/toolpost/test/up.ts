import { type ChildProcess, spawn } from 'node:child_process'
import { expect } from 'vitest'
import { outputOf } from '../../../tests/output-of.ts'
import { COMMAND } from './command.ts'
import { type ConsoleLine, consoleLine } from './console-line.ts'

const PATIENCE = { interval: 20, timeout: 30_000 }

export interface RunningGateway extends ConsoleLine, AsyncDisposable {
  child: ChildProcess
  out(): string
  err(): string
  exit: Promise<number | null>
}

/** Starts `toolpost up` in a folder, on a free port, and waits until it has said where it is. */
export async function startUp(
  cwd: string,
  { words = [], env = {} }: { words?: string[]; env?: Record<string, string> } = {},
): Promise<RunningGateway> {
  const child = spawn(process.execPath, [COMMAND, 'up', '--port', '0', ...words], {
    cwd,
    env: { ...process.env, TOOLPOST_TOKEN: '', ...env },
  })
  const { out, err, exit } = outputOf(child)
  await expect
    .poll(() => [out(), child.exitCode, err()].join(' '), PATIENCE)
    .toContain('Press Ctrl-C to stop.')
  return {
    ...consoleLine(out()),
    ...{ child, out, err, exit },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exit
    },
  }
}
