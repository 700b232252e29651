import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { guardStdout } from './mcp-server/stdio.ts'

function streams() {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const guarded = guardStdout(
    stdout as unknown as NodeJS.WriteStream,
    stderr as unknown as NodeJS.WriteStream,
  )
  return { stdout, stderr, guarded }
}

it('sends whatever is written to stdout to stderr, except through the guarded stream', () => {
  const { stdout, stderr, guarded } = streams()
  stdout.write('a stray line\n')
  guarded.write('{"jsonrpc":"2.0"}\n')
  expect(String(stderr.read())).toBe('a stray line\n')
  expect(String(stdout.read())).toBe('{"jsonrpc":"2.0"}\n')
})

it('passes the end of the pipe on', async () => {
  const { stdout, guarded } = streams()
  const failed = new Promise(resolve => guarded.once('error', resolve))
  stdout.destroy(new Error('EPIPE'))
  await expect(failed).resolves.toMatchObject({ message: 'EPIPE' })
})
