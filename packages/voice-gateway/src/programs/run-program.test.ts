import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeClock } from 'toolpost/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { programs, temporaryFolder } from '../../test/support/programs.ts'
import { type ProgramRun, runProgram } from './run-program.ts'

class ProgramError extends Error {}

/** Runs a script that writes its process id down first; `hasBegun` says that it did. */
function run(script: string, options: Partial<ProgramRun> = {}) {
  const { folder } = programs({ program: `echo $$ > "$(dirname "$0")/pid"\n${script}` })
  const program = join(folder, 'program')
  const file = join(folder, 'pid')
  const clock = fakeClock()
  const stop = new AbortController()
  const defaults = { program, args: [], signal: stop.signal, deadlineMs: 5_000, clock, Failure: ProgramError }
  const output = runProgram({ ...defaults, ...options })
  output.catch(() => {})
  const pid = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)
  return { output, program, clock, stop, pid, hasBegun: () => eventually(pid).toBeGreaterThan(0) }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('runProgram', () => {
  it('returns what a program makes of its input', async () => {
    const { output, clock } = run('cat', { input: 'hello' })
    expect((await output).toString()).toBe('hello')
    expect(clock.pending).toBe(0)
  })

  it('says how a program failed, in its own last words', async () => {
    const { output, program } = run("echo 'one' >&2; echo 'two' >&2; exit 3")
    await expect(output).rejects.toThrow(new ProgramError(`${program} failed (exit code 3): two`))
  })

  it.each<[string, Partial<ProgramRun>, string]>([
    ['is not there', { program: 'no-such-program' }, 'no-such-program is not installed, or not on the PATH.'],
    ['is not executable', { program: '/dev/null' }, '/dev/null is not executable.'],
    ['cannot be started', { args: ['\0'] }, 'could not be started: '],
  ])('says that a program %s', async (_name, options, words) => {
    const { output, clock } = run('', options)
    await expect(output).rejects.toThrow(words)
    await expect(output).rejects.toBeInstanceOf(ProgramError)
    expect(clock.pending).toBe(0)
  })

  it('never begins what is aborted already', async () => {
    const { output } = run('', { signal: AbortSignal.abort('stopped') })
    await expect(output).rejects.toBe('stopped')
  })

  it('ends a program that writes without end', async () => {
    const { output, program, pid } = run('exec cat /dev/zero')
    await expect(output).rejects.toThrow(new ProgramError(`${program} wrote more than 64 MB and was killed.`))
    expect(isThere(pid())).toBe(false)
  })

  it('is over only when a program that was too slow is gone', async () => {
    const { output, clock, pid, hasBegun } = run('exec sleep 1000')
    await hasBegun()
    await clock.advance(5_000)
    await expect(output).rejects.toThrow('did not finish within 5 s.')
    expect([isThere(pid()), clock.pending]).toEqual([false, 0])
  })

  it('is over only when a program that was aborted is gone, even if its children hold its output', async () => {
    const folder = temporaryFolder()
    const script = `sleep 1000 &\necho $! > ${folder}/child; wait`
    const { output, clock, stop, pid } = run(script)
    const child = () => Number(existsSync(`${folder}/child`) && readFileSync(`${folder}/child`, 'utf8'))
    await eventually(child).toBeGreaterThan(0)
    onTestFinished(() => void process.kill(child(), 'SIGKILL'))
    stop.abort('stopped')
    await expect(output).rejects.toBe('stopped')
    expect([isThere(pid()), clock.pending]).toEqual([false, 0])
  })
})
