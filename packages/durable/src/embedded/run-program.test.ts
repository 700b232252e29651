import { describe, expect, it } from 'vitest'
import { run } from './run-program.ts'

const node = (code: string) => run(process.execPath, ['-e', code])

describe('a program of PostgreSQL', () => {
  it('returns its output, or fails with its own message', async () => {
    expect((await node("console.log('ready')")).stdout).toBe('ready\n')
    await expect(node("console.error('no space'); process.exit(3)")).rejects.toThrow('no space')
    await expect(run('no-such-program', [])).rejects.toThrow('ENOENT')
  })

  it('is over when it exits, even if a child holds its output open', async () => {
    const server = 'setTimeout(() => {}, 30_000); process.on("disconnect", () => process.exit())'
    const { stdout } = await node(`
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(server)}], { stdio: ['ignore', 'inherit', 'inherit'], detached: true })
      child.unref()
      process.stdout.write(String(child.pid), () => process.exit())
    `)
    process.kill(Number(stdout), 'SIGKILL')
  })
})
