import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { startServers } from '../../test/hostile-server/harness.ts'
import type { Question } from '../tools/caller.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let servers = 0

async function taskServer() {
  const journal = join(folder, String(++servers))
  const file = fileURLToPath(new URL('./test-servers/tasks.mjs', import.meta.url))
  const server = { command: process.execPath, args: [file, journal], trust: true }
  const harness = await startServers({ server })
  expect(harness.status().state).toBe('ready')
  const events = () => readFileSync(journal, 'utf8').split('\n')
  const count = (event: string) => events().filter(each => each === event).length
  return { ...harness, count }
}

const PATIENCE = { interval: 10, timeout: 10_000 }
const run = (how: string, more = {}) => ({ name: 'required', args: { how, ...more } })

describe('a task', () => {
  it('is looked at until it ends, tells its status as progress, and gives its result', async () => {
    await using server = await taskServer()
    const seen: unknown[] = []
    const onProgress = ({ message }: { message?: string | undefined }) => void seen.push(message)
    const result = await server.executor.run(run('plain'), { onProgress })
    expect(result).toMatchObject({ success: true, result: 'done' })
    expect(seen).toEqual(['begun', 'looked at 1 times', 'ended'])
    expect(server.count('tasks/get')).toBe(2)
    expect(server.count('tasks/cancel')).toBe(0)
  })

  it('says in the words of the server that it failed, or who cancelled it', async () => {
    await using server = await taskServer()
    const error = async (how: string) => ({ error: '', ...(await server.executor.run(run(how))) }).error
    expect(await error('failing')).toBe('it broke')
    expect(await error('cancelled_there')).toBe('The server cancelled the task: somebody else did')
  })

  it('is cancelled at the deadline of the call and when the caller gives up', async () => {
    await using server = await taskServer()
    const late = await server.executor.run(run('never'), { timeoutMs: 300 })
    expect(late).toMatchObject({ code: 'timeout' })
    await vi.waitFor(() => expect(server.count('tasks/cancel')).toBe(1), PATIENCE)
    const caller = new AbortController()
    const call = server.executor.run(run('never'), { signal: caller.signal })
    await vi.waitFor(() => expect(server.count('tools/call')).toBe(2))
    caller.abort()
    expect(await call).toMatchObject({ code: 'cancelled' })
    await vi.waitFor(() => expect(server.count('tasks/cancel')).toBe(2), PATIENCE)
  })

  it('asks whoever made the call what the server wants to know', async () => {
    await using server = await taskServer()
    const asked: string[] = []
    const ask = (name: string) => async (question: Question) => {
      asked.push(question.message)
      return { action: 'accept' as const, content: { name } }
    }
    const results = await Promise.all(
      ['Ann', 'Bob'].map(name =>
        server.executor.run(run('asking'), { ask: ask(name), caller: name, timeoutMs: 20_000 }),
      ),
    )
    expect(results.map(result => result.success && result.result)).toEqual(['done for Ann', 'done for Bob'])
    expect(asked).toEqual(['Who is it?', 'Who is it?'])
    expect(await server.executor.run(run('asking'))).toMatchObject({ result: 'done for decline' })
  })

  it('that the server forgets, or loses with itself, is never called again', async () => {
    await using server = await taskServer()
    expect(await server.executor.run(run('forgetful'))).toMatchObject({
      code: 'tool_error',
      error: 'The server no longer knows the task: Task not found; the outcome of the call is unknown',
    })
    expect(await server.executor.run(run('dying'), { timeoutMs: 20_000 })).toMatchObject({
      code: 'unavailable',
      error: expect.stringMatching(/exited with code 3 during the call; the outcome of the call is unknown$/),
    })
    expect(server.count('tools/call')).toBe(2)
  })

  it('that is lost with its server is begun again once, if the call may run twice', async () => {
    await using server = await taskServer()
    const result = await server.executor.run(
      { name: 'reading', args: { how: 'dying' } },
      { timeoutMs: 20_000 },
    )
    expect(result).toMatchObject({ code: 'unavailable', error: expect.not.stringContaining('outcome') })
    expect(server.count('tools/call')).toBe(2)
  })

  it('that is malformed is refused', async () => {
    await using server = await taskServer()
    const error = 'Malformed MCP task: the server described another task'
    expect(await server.executor.run(run('other_task'))).toMatchObject({ error })
  })
})
