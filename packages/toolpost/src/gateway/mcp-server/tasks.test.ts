import type { CallToolResult } from '@modelcontextprotocol/server'
import { afterEach, expect, it, vi } from 'vitest'
import { MAX_TASK_TTL_MS, MIN_TASK_TTL_MS, TASK_TTL_MS } from '../limits.ts'
import { ClientCall } from './client-call.ts'
import { Tasks } from './tasks.ts'

afterEach(() => void vi.useRealTimers())

function callWith(work: () => Promise<CallToolResult>) {
  return new ClientCall({ owner: { client: '', about: '' }, capabilities: {}, work })
}

const textOf = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const endless = () => callWith(() => new Promise(() => {}))

it('[F64] results that are too large together make room for the later ones', async () => {
  const tasks = new Tasks()
  const large = 'x'.repeat(10 * 1024 * 1024)
  const kept = []
  for (let at = 0; at < 8; at++) {
    const task = tasks.add(
      'ann',
      callWith(async () => textOf(large)),
    )
    await vi.waitFor(() => expect(task?.status).toBe('completed'))
    kept.push(task)
  }
  expect(tasks.of('ann')).toEqual(kept.slice(2))
})

it('a task is there until its time is over, and one that still runs until it has ended', async () => {
  vi.useFakeTimers()
  const tasks = new Tasks()
  const short = tasks.add(
    'ann',
    callWith(async () => textOf('done')),
  )
  let finish = (_: CallToolResult) => {}
  const long = tasks.add(
    'ann',
    callWith(
      () =>
        new Promise(resolve => {
          finish = resolve
        }),
    ),
  )
  await vi.advanceTimersByTimeAsync(TASK_TTL_MS - 1)
  expect(tasks.of('ann')).toEqual([short, long])
  await vi.advanceTimersByTimeAsync(MIN_TASK_TTL_MS + 1)
  expect(tasks.of('ann')).toEqual([long])
  finish(textOf('done'))
  await vi.advanceTimersByTimeAsync(MIN_TASK_TTL_MS - 1)
  expect(tasks.of('ann')).toEqual([long])
  await vi.advanceTimersByTimeAsync(1)
  expect(tasks.of('ann')).toEqual([])
})

it('[F64] what a client asks for is within bounds, and only what has ended makes room', async () => {
  const tasks = new Tasks()
  expect(tasks.add('ann', endless(), 1e15)?.ttlMs).toBe(MAX_TASK_TTL_MS)
  expect(tasks.add('ann', endless(), -5)?.ttlMs).toBe(MIN_TASK_TTL_MS)
  const ended = tasks.add(
    'ann',
    callWith(async () => textOf('done')),
  )
  await vi.waitFor(() => expect(ended?.status).toBe('completed'))
  for (let at = 0; at < 97; at++) expect(tasks.add('ann', endless())).toBeDefined()
  expect(tasks.add('ann', endless())).toBeDefined()
  expect(tasks.of('ann')).not.toContain(ended)
  expect(tasks.add('ann', endless())).toBeUndefined()
  expect(tasks.add('bob', endless())).toBeDefined()
  tasks.endAll('ann')
  expect(tasks.of('ann')).toEqual([])
  expect(tasks.of('bob')).toHaveLength(1)
})
