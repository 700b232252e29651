import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { OfflineClient } from '../models/offline-client.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { createConfiguration } from './configuration.ts'
import { builtInExample } from './resolve.ts'
import { projectTimers } from './timers.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A project with a fan and timers, at a time that only the test moves. */
function home(folder = mkdtempSync(join(tmpdir(), 'toolpost-timers-'))) {
  const done: string[] = []
  const said: string[] = []
  const fan = defineTool<{ action: string }>({
    name: 'fan',
    description: 'Switches the fan',
    schema: { type: 'object', properties: { action: { type: 'string', enum: ['on', 'off'] } } },
    sentences: ['turn {action} [the] fan'],
    handler: ({ action }) => {
      done.push(action)
      return `The fan is ${action}.`
    },
  })
  const executor = new ToolExecutor(new ToolManager({ tools: [fan] }))
  const resolved = { ...builtInExample(), file: join(folder, 'toolpost.json') }
  const { signal } = new AbortController()
  const configuration = createConfiguration(
    resolved,
    async () => resolved,
    () => {},
    signal,
  )
  const say = (text: string) => void said.push(text)
  const timers = projectTimers({ executor, configuration, say, tell: () => {} })
  timers.start()
  const client = new OfflineClient({ executor })
  const ask = async (text: string) => (await client.ask(text)).text
  const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { ask, advance, done, said, folder, timers, executor }
}

it('sets, lists, changes and cancels several timers, named or not, and announces their end', async () => {
  const { ask, advance, said } = home()
  expect(await ask('set a timer for ten minutes')).toBe('The timer is set for 10 minutes.')
  expect(await ask('start a tea timer for 3 minutes')).toBe('The tea timer is set for 3 minutes.')
  await advance(60_000)
  expect(await ask('how much time is left on the tea timer?')).toBe('The tea timer has 2 minutes left.')
  expect(await ask('add 30 seconds to the tea timer')).toBe(
    'The tea timer now has 2 minutes 30 seconds left.',
  )
  expect(await ask('which timers are running')).toBe(
    'The timer has 9 minutes left. The tea timer has 2 minutes 30 seconds left.',
  )
  await advance(150_000)
  expect(said).toEqual(['The tea timer is done.'])
  expect(await ask('cancel the timer')).toBe('The timer is cancelled.')
  expect(await ask('do i have any timers')).toBe('No timer is set.')
})

it('carries out a command later, and forgets it once it is cancelled', async () => {
  const { ask, advance, done, said } = home()
  expect(await ask('turn off the fan in ten minutes')).toBe('I will do that in 10 minutes.')
  expect(done).toEqual([])
  await advance(600_000)
  await vi.waitFor(() => expect(said).toEqual(['The fan is off.']))
  await ask('in an hour turn on the fan')
  await ask('cancel all timers')
  await advance(3_600_000)
  expect(done).toEqual(['off'])
})

it('survives a restart; a command that was due long ago is only told of', async () => {
  const first = home()
  await first.ask('set a pasta timer for 8 minutes')
  await first.ask('turn on the fan in 5 minutes')
  first.timers.close()
  expect(JSON.parse(readFileSync(join(first.folder, '.toolpost', 'timers.json'), 'utf8'))).toHaveLength(2)
  vi.setSystemTime(Date.now() + 7 * 60_000)
  const second = home(first.folder)
  await second.advance(60_000)
  expect(second.said).toEqual([
    'The command was due while Toolpost was not running, so it was not carried out.',
    'The pasta timer is done.',
  ])
  expect(second.done).toEqual([])
})

it('does not let a client have tools called later', async () => {
  const { executor } = home()
  const args = { action: 'set', seconds: 5, calls: [{ name: 'fan', args: { action: 'on' } }] }
  expect(await executor.run({ id: '1', name: 'timer', args }, { caller: 'kitchen' })).toMatchObject({
    success: false,
    error: 'Only the owner can have tools called later.',
  })
})
