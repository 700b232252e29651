import { HumanMessage } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from './scripted-model.ts'

async function read(stream: AsyncIterable<{ content: string; tool_calls: unknown[] }>) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('scriptedModel', () => {
  it('answers turn by turn and records what it was given', async () => {
    const model = scriptedModel({ text: ['Hello ', 'you'] }, turn => `${turn.messages.length} messages`)
    const question = new HumanMessage('hi')
    const first = await read(await model.bindTools([{ name: 'lamp' }]).stream([question]))
    expect(first.map(chunk => chunk.content)).toEqual(['Hello ', 'you'])
    const [second] = await read(await model.stream([question, question]))
    expect(second?.content).toBe('2 messages')
    expect(model.turns).toMatchObject([{ tools: ['lamp'], messages: [question] }, { tools: [] }])
  })

  it('fails, hangs until it is stopped, and has no more turns than its script', async () => {
    const model = scriptedModel({ error: new Error('no') }, { hangs: true })
    await expect(read(await model.stream([]))).rejects.toThrow('no')
    await expect(read(await model.stream([], { signal: AbortSignal.abort() }))).rejects.toThrow('abort')
    await expect(model.stream([])).rejects.toThrow('The script has no turn 3')
  })
})
