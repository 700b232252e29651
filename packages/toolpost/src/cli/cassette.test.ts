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
    const errorOf = async (...words: string[]) => {
      const { code, err } = await toolpost(words)
      return `${code} ${err}`
    }
    writeFileSync(join(folder, 'newer.jsonl'), '{"cassette":9}\n')
    expect(await errorOf('up', '--replay', 'nothing.jsonl')).toMatch(/^2 Error: Cannot read the cassette/)
    expect(await errorOf('up', '--replay', 'newer.jsonl')).toMatch(
      /^2 .*newer\.jsonl is a cassette of version 9/,
    )
    expect(await errorOf('chat', 'hi', '--model', 'replay:no')).toMatch(/^2 Error: Cannot read the cassette/)
    expect(await errorOf('codegen', '--out', join('nowhere', 'tools.ts'))).toMatch(
      /^2 Error: nowhere.*: no such file or folder\n$/,
    )
    expect(await errorOf('up', '--record', 'toolpost.json')).toMatch(/^2 .*record to another file/)
  })
})
