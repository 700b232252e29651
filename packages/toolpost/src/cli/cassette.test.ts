import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { startUp } from '../../test/up.ts'
import { fakeOllama } from '../testing/index.ts'

const { folder, toolpost } = commandLine()
const call = ['call', 'datetime', '--json']
const question = ['chat', 'Say the time', '--json']

async function results() {
  const { text, calls } = JSON.parse((await toolpost(question)).out)
  const { result } = JSON.parse((await toolpost(call)).out)
  return { text, called: calls[0].result.result, result }
}

describe('toolpost up', () => {
  it('records calls and replies, and replays them without the model', async () => {
    writeFileSync(join(folder, 'toolpost.json'), '{}')
    let recorded: unknown
    {
      const replies = [{ calls: [{ name: 'datetime', args: { timezone: 'Asia/Tokyo' } }] }, 'Late.']
      await using model = await fakeOllama({ replies })
      const env = { OLLAMA_BASE_URL: model.url }
      await using _ = await startUp(folder, { words: ['--record', 'bug.jsonl'], env })
      recorded = await results()
    }
    expect(recorded).toMatchObject({ text: 'Late.' })
    await using replaying = await startUp(folder, { words: ['--replay', 'bug.jsonl'] })
    expect(replaying.out()).toContain('Replaying bug.jsonl: tools do not run')
    expect(await results()).toEqual(recorded)
    const { code, err } = await toolpost(['call', 'datetime', 'timezone=Asia/Seoul'])
    expect(code).toBe(1)
    expect(err).toContain('the nearest is datetime({"timezone":"Asia/Tokyo"}) in line 3')
  })

  it('refuses what is no cassette, and files that cannot be read or written, exit 2', async () => {
    const missing = await toolpost(['up', '--replay', 'nothing.jsonl'])
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('Cannot read the cassette')])
    writeFileSync(join(folder, 'newer.jsonl'), '{"cassette":9}\n')
    const newer = await toolpost(['up', '--replay', 'newer.jsonl'])
    expect([newer.code, newer.err]).toEqual([
      2,
      expect.stringMatching(/newer\.jsonl is a cassette of version 9/),
    ])
    const asked = await toolpost(['chat', 'hi', '--model', 'replay:nothing.jsonl'])
    expect([asked.code, asked.err]).toEqual([2, expect.stringMatching(/^Error: Cannot read the cassette/)])
    const written = await toolpost(['codegen', '--out', join(folder, 'nowhere', 'tools.ts')])
    expect([written.code, written.err]).toEqual([2, expect.stringMatching(/^Error: ENOENT: .*\n$/)])
    const other = await toolpost(['up', '--record', 'toolpost.json'])
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('record to another file')])
  })
})
