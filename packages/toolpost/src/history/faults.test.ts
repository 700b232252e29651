import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { histories } from '../../test/history.ts'
import { fakeClock, recordingLogger } from '../testing/index.ts'
import type { History, HistoryStatus } from './index.ts'
import { HistoryReader } from './reader.ts'

const { open, newFile, folder } = histories()
const child = fileURLToPath(new URL('../../test/history-child.mjs', import.meta.url))

type Report = HistoryStatus & { calls: number; failed: number; notices: string[] }

async function* reportsOf(process: ChildProcess): AsyncGenerator<Report> {
  for await (const line of createInterface({ input: process.stdout as NodeJS.ReadableStream }))
    yield JSON.parse(line) as Report
}

async function lastReport(process: ChildProcess): Promise<Report> {
  let last: Report | undefined
  for await (const report of reportsOf(process)) last = report
  return last as Report
}

function run(file: string, calls: number, node: string[] = []): ChildProcess {
  return spawn(process.execPath, [...node, child, file, String(calls)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function countIn(history: History): Promise<number> {
  let count = 0
  for await (const text of history.export()) count += text.split('\n').length - 1
  return count
}

describe('[F57] a file that cannot be used', () => {
  it('costs the history, never a call, and is said once', async () => {
    const blocked = join(folder, 'a file')
    writeFileSync(blocked, '')
    const logger = recordingLogger()
    const { history, executor } = await open({ file: join(blocked, 'history.db'), logger })
    for (let n = 0; n < 3; n++) expect((await executor.run({ name: 'echo' })).success).toBe(true)
    await expect(history.list()).rejects.toThrow()
    expect(history.status()).toMatchObject({ state: 'failed', written: 0, dropped: 3 })
    expect(logger.records.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('is used once it can be', async () => {
    const file = newFile()
    writeFileSync(dirname(file), '')
    const { history, executor } = await open({ file })
    expect(history.status().state).toBe('failed')
    const { rmSync } = await import('node:fs')
    rmSync(dirname(file))
    const isKept = async () => {
      await executor.run({ name: 'echo' })
      await history.list().catch(() => {})
      return history.status().state
    }
    await expect.poll(isKept, { timeout: 20_000 }).toBe('open')
    expect((await history.list()).calls.length).toBeGreaterThan(0)
  })

  it.runIf(process.platform === 'linux')(
    'may be one on a disk that is full',
    async () => {
      const file = newFile()
      // No file may grow over 200 KB.
      const limited = `trap '' XFSZ; ulimit -f 200; exec "$0" "$@"`
      const full = spawn('bash', ['-c', limited, process.execPath, child, file, '3000'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const report = await lastReport(full)
      expect(report).toMatchObject({ calls: 3_000, failed: 0 })
      expect(report.dropped).toBeGreaterThan(0)
      expect(report.written + report.dropped).toBe(3_000)
      // A smaller batch may have fitted in at the end: what counts is that it was said.
      expect(report.notices.join()).toMatch(/disk/)
      // What was written is there.
      const { history } = await open({ file })
      expect(await countIn(history)).toBe(report.written)
    },
    60_000,
  )

  it('may need a package that is not installed: it says which', async () => {
    const block = join(folder, 'no-libsql.cjs')
    writeFileSync(
      block,
      `const { Module } = require('node:module')
       const load = Module._load
       Module._load = (name, ...rest) => {
         if (name === 'libsql') throw Object.assign(new Error("Cannot find module 'libsql'"), { code: 'MODULE_NOT_FOUND' })
         return load(name, ...rest)
       }`,
    )
    const report = await lastReport(run(newFile(), 100, ['--require', block]))
    expect(report).toMatchObject({ calls: 100, failed: 0, written: 0, dropped: 100 })
    expect(report.problem).toContain('npm i libsql')
  }, 30_000)

  it.each(['not a database at all', ''.padEnd(20_000, 'SQLite format 3\u0000 and nonsense ')])(
    'because it is damaged is set aside: %#',
    async content => {
      const file = newFile()
      mkdirSync(dirname(file))
      writeFileSync(file, content)
      const logger = recordingLogger()
      const { history, executor } = await open({ file, logger })
      await executor.run({ name: 'echo' })
      expect((await history.list()).calls).toHaveLength(1)
      expect(readdirSync(dirname(file)).some(name => name.startsWith(`${basename(file)}.damaged-`))).toBe(
        true,
      )
      expect(JSON.stringify(logger.records)).toContain('was damaged; moved it to')
    },
  )

  it('because it was damaged in the middle is set aside as soon as that shows', async () => {
    const { history, executor, file } = await open()
    for (let n = 0; n < 500; n++) await executor.run({ name: 'echo', args: { n, text: 'x'.repeat(300) } })
    await history.close()
    const damaged = openSync(file, 'r+')
    for (let at = 8_192; at < statSync(file).size; at += 4_096) writeSync(damaged, 'nonsense'.repeat(100), at)
    const later = await open({ file })
    const isWhole = async () => {
      await later.executor.run({ name: 'echo' })
      return later.history.list({ limit: 1_000 }).then(
        ({ calls }) => calls.length,
        () => 0,
      )
    }
    await expect.poll(isWhole, { timeout: 20_000 }).toBeGreaterThan(0)
    expect(readdirSync(dirname(file)).join()).toContain('damaged-')
    expect(later.history.status().state).toBe('open')
  }, 30_000)

  it('was written by a newer version: it is left as it is', async () => {
    const { history, file } = await open()
    await history.close()
    const { default: Database } = await import('libsql')
    const database = new Database(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    const later = await open({ file })
    expect(later.history.status()).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('newer version'),
    })
    expect(existsSync(file)).toBe(true)
  })
})

describe('a history that is written by several, or in a hurry', () => {
  it('has the calls of two processes on one file', async () => {
    const file = newFile()
    const reports = await Promise.all([lastReport(run(file, 1_000)), lastReport(run(file, 1_000))])
    expect(reports.map(({ dropped, failed }) => [dropped, failed])).toEqual([
      [0, 0],
      [0, 0],
    ])
    const { history } = await open({ file })
    expect(await countIn(history)).toBe(2_000)
  }, 60_000)

  it('survives kill -9: what was written is there, and the file opens again', async () => {
    const file = newFile()
    const process = run(file, 0)
    let written = 0
    for await (const report of reportsOf(process)) {
      written = report.written
      if (report.written > 1_000) process.kill('SIGKILL')
    }
    const reader = new HistoryReader(file)
    expect(reader.list({ limit: 1 }).calls[0]?.serial).toBeGreaterThanOrEqual(written)
    reader.close()
    const { history, executor } = await open({ file })
    await executor.run({ name: 'echo', args: { after: true } })
    expect((await history.list({ limit: 1 })).calls[0]?.args).toEqual({ after: true })
    expect(await countIn(history)).toBeGreaterThan(written)
  }, 60_000)

  it('hands calls over within 50 ms, so that no more than the last batch can be missing', async () => {
    const clock = fakeClock()
    const { history, executor } = await open({ clock })
    await executor.run({ name: 'echo' })
    clock.advance(50)
    await expect.poll(() => history.status().written).toBe(1)
  })

  it('drops what is over its bound, counts it and says so once; memory does not grow', async () => {
    const logger = recordingLogger()
    const { history, executor } = await open({ logger })
    // Faster than anything can be written: nothing else gets a turn.
    for (let n = 0; n < 60_000; n++) await executor.run({ name: 'echo' })
    expect(history.dropped).toBe(10_000)
    await expect.poll(() => history.status().written, { timeout: 30_000 }).toBe(50_000)
    expect(logger.records.filter(({ level }) => level === 'warn')).toHaveLength(1)
    await executor.run({ name: 'echo', args: { again: true } })
    expect((await history.list({ limit: 1 })).calls[0]?.args).toEqual({ again: true })
  }, 60_000)
})
