import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const COMMAND = fileURLToPath(new URL('../bin/toolpost-proof.js', import.meta.url))

function proof(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise(resolve =>
    execFile(process.execPath, [COMMAND, ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )
}

/** A driver that answers as `write` does, with a part replaced. */
function driver(name: string, parts: { start?: string; call?: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-proof-driver-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { start = '', call = "return { ok: true, text: 'written' }" } = parts
  const file = join(folder, `${name}.mjs`)
  const exports = [
    "export const supports = ['stdio']",
    `export async function start() { ${start} }`,
    `export async function call() { ${call} }`,
    'export async function stop() {}',
  ]
  writeFileSync(file, exports.join('\n'))
  return file
}

describe('a driver that misbehaves', () => {
  it('fails its own cases with the reason, and no other driver is affected', {
    timeout: 120_000,
  }, async () => {
    const drivers = [
      driver('throws', { start: "throw new Error('no licence')" }),
      driver('hangs', { start: 'await new Promise(() => {})' }),
      driver('prints', { call: "console.log('hello'); return { ok: true, text: 'written' }" }),
      driver('crashes', { call: 'process.exit(7)' }),
      driver('claims', {}),
      'toolpost',
    ]
    const named = drivers.flatMap(file => ['--driver', file])
    const { code, stdout } = await proof('run', ...named, '--only', 'arguments/valid', '--json')
    const seen = JSON.parse(stdout).map(
      ({ driver, verdicts }: { driver: string; verdicts: { state: string; seen?: string }[] }) =>
        `${driver}: ${verdicts[0]?.state} ${verdicts[0]?.seen ?? ''}`,
    )
    expect(seen).toEqual([
      'throws: failed no licence',
      "hangs: failed the driver did not answer to 'start' after 10000 ms",
      'prints: failed the driver printed to stdout: "hello\\n"',
      expect.stringMatching(/^crashes: failed the driver's process ended with exit code 7/),
      // The ledger knows better.
      'claims: failed the server got the call 0 times',
      'toolpost: passed ',
    ])
    expect(code).toBe(1)
  })

  it('is a usage error if there is none, or no such case', async () => {
    expect(await proof('run')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage:'),
    })
    expect(await proof('run', '--driver', 'nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no driver 'nobody'"),
    })
    expect(await proof('run', '--driver', 'toolpost', '--only', 'colours')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no family or case 'colours'"),
    })
  })
})
