import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { defineTool, ToolExecutor, ToolManager } from '../index.ts'
import { ModelClient, replayModel } from '../models/index.ts'
import { readCassette, scriptedModel } from '../testing/index.ts'
import { record, replay } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-cassette-'))
const file = join(folder, 'kept', 'home.jsonl')
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A counter: every call of it has another result. */
function home(...interceptors: Parameters<ToolExecutor['use']>[0][]) {
  let count = 0
  const turn = defineTool({
    name: 'turn',
    description: 'Turns a light.',
    schema: {
      type: 'object',
      properties: { light: { type: 'string' }, on: { type: 'boolean' }, password: { type: 'string' } },
      required: ['light'],
    } as const,
    handler: ({ light }) => `${light} ${++count}`,
  })
  const executor = new ToolExecutor(new ToolManager({ tools: [turn] }))
  for (const interceptor of interceptors) executor.use(interceptor)
  const call = async (args: object) => {
    const result = await executor.run({ name: 'turn', args })
    return result.success ? result.result : result.error
  }
  return { executor, call, count: () => count }
}

async function recorded() {
  const { call } = home(record(file))
  await call({ light: 'hall', on: true })
  await call({ light: 'porch' })
  await call({ on: true, light: 'hall' })
}

describe('record and replay', () => {
  it('answers calls by tool and arguments, in order, without the tool', async () => {
    await recorded()
    const { call, count } = home(replay(file))
    expect(await call({ light: 'porch' })).toBe('porch 2')
    expect(await call({ light: 'hall', on: true })).toBe('hall 1')
    expect(await call({ light: 'hall', on: true })).toBe('hall 3')
    expect(await call({ light: 'hall', on: true })).toContain('has 2 of turn(')
    expect(count()).toBe(0)
  })

  it('names the nearest recorded call on a miss, or runs the tool', async () => {
    await recorded()
    const miss = await home(replay(file)).call({ light: 'porsch' })
    expect(miss).toBe(
      `${file} has no recorded call turn({"light":"porsch"}); the nearest is turn({"light":"porch"}) in line 3`,
    )
    expect(await home(replay(file, { onMiss: 'run' })).call({ light: 'attic' })).toBe('attic 1')
  })

  it('writes no secrets, and still finds the call', async () => {
    await home(record(file)).call({ light: 'hall', password: 'correct horse battery' })
    expect(readFileSync(file, 'utf8')).not.toContain('horse')
    expect(await home(replay(file)).call({ light: 'hall', password: 'another one' })).toBe('hall 1')
  })

  it('ignores a last line that was cut off, and refuses any other damage and other versions', async () => {
    await recorded()
    truncateSync(file, readFileSync(file).length - 20)
    const problems: string[] = []
    const cut = home(replay(file, { onProblem: text => problems.push(text) }))
    expect(await cut.call({ light: 'porch' })).toBe('porch 2')
    expect(problems).toEqual([`${file}: line 4 is cut off and was ignored`])
    await home(record(file)).call({ light: 'attic' })
    expect(readCassette(file).calls.map(({ args }) => args)).toMatchObject([
      { light: 'hall' },
      { light: 'porch' },
      { light: 'attic' },
    ])
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, whole.replace('porch', 'porch"'))
    expect(() => replay(file)).toThrow(`${file}: line 3 cannot be read`)
    writeFileSync(file, whole.replace('"cassette":1', '"cassette":9'))
    expect(() => replay(file)).toThrow(`${file} is a cassette of version 9, not 1`)
    expect(() => record(file)).toThrow('record to another file')
  })

  it('refuses files that are no cassettes, and changes none of them', () => {
    const notes = join(folder, 'notes.txt')
    expect(() => replay(notes)).toThrow('Cannot read the cassette')
    home(record(notes))
    writeFileSync(notes, 'shopping\n')
    expect(() => replay(notes)).toThrow('is not a cassette')
    expect(() => record(notes)).toThrow('is not a cassette')
    expect(readFileSync(notes, 'utf8')).toBe('shopping\n')
  })

  it('replays a whole conversation without the model and the tool', async () => {
    const model = scriptedModel(
      { calls: [{ name: 'turn', args: { light: 'hall' } }] },
      'The hall is lit.',
      'Bye.',
    )
    const live = new ModelClient({ model, record: file, executor: home(record(file)).executor })
    const first = await live.ask('Light the hall, please')
    await live.ask('Thanks')

    const { executor, count } = home(replay(file, { onProblem: () => {} }))
    const again = new ModelClient({ model: replayModel(file), executor })
    const tokens: string[] = []
    const answer = await again.ask('Light the hall, please', { onToken: token => tokens.push(token) })
    expect(answer.text).toBe(first.text)
    expect(answer.results).toMatchObject([{ success: true, result: 'hall 1' }])
    expect(tokens.join('')).toBe('The hall is lit.')
    expect((await again.ask('Thanks')).text).toBe('Bye.')
    await expect(again.ask('Thank')).rejects.toThrow("the nearest question is 'Thanks' in line 5")
    expect(count()).toBe(0)
  })
})
