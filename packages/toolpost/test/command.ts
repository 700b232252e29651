import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { outputOf } from '../../../tests/output-of.ts'
import { packageRoot } from '../src/util/package-root.ts'
import { onTerminal } from './pseudo-terminal.ts'

export const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')

export interface Run {
  /** -1 if there is none: killed by a signal, or stopped because it wrote too much. */
  code: number
  out: string
  err: string
}

export interface RunOptions {
  input?: string
  /** Where it runs; the folder of the tests if left out. */
  cwd?: string
  env?: Record<string, string>
  /** Options for Node itself. */
  node?: string[]
}

/** The built command line, run in an empty folder that goes away with the tests of the file. */
export function commandLine() {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-cli-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let files = 0
  return {
    folder,
    toolpost(
      words: string[],
      { input = '', cwd = folder, env = {}, node = [] }: RunOptions = {},
    ): Promise<Run> {
      return new Promise(resolve => {
        const options = { cwd, env: { ...process.env, ...env } }
        const child = execFile(process.execPath, [...node, COMMAND, ...words], options, (error, out, err) => {
          const failedWith = typeof error?.code === 'number' ? error.code : -1
          resolve({ code: error ? failedWith : 0, out, err })
        })
        child.stdin?.end(input)
      })
    },
    /** Starts it with its input left open. */
    start(words: string[], env: Record<string, string> = {}) {
      const child = spawn(process.execPath, [COMMAND, ...words], {
        cwd: folder,
        env: { ...process.env, ...env },
      })
      return { child, ...outputOf(child) }
    },
    /** Starts it on a terminal of its own. */
    terminal: (words: string[], env: Record<string, string> = {}) =>
      onTerminal([COMMAND, ...words], { cwd: folder, env }),
    /** Writes a configuration and gives its path. */
    configFile(config: unknown): string {
      const file = join(folder, `config-${++files}.json`)
      writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config))
      return file
    },
  }
}
