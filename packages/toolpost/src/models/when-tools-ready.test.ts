import { describe, expect, it, vi } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { defineTool } from '../tools/tool.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import type { AiClient } from './ai-client.ts'
import { whenToolsReady } from './fast-path.ts'
import { OfflineClient } from './offline-client.ts'

const tool = (name: string, sentence: string) =>
  defineTool({
    name,
    description: name,
    schema: { type: 'object' },
    sentences: [sentence],
    handler: () => `${name} is done`,
  })

/** Sentences alone, a clock that is there, and a lamp that comes when it is let. */
function home() {
  const tools = new ToolManager()
  tools.addCustomTool(tool('clock', 'what time is it'))
  const executor = new ToolExecutor(tools)
  const sentences = new OfflineClient({ executor })
  let arrive = () => {}
  const arrived = new Promise<void>(resolve => {
    arrive = () => {
      tools.addCustomTool(tool('lamp', 'turn on the lamp'))
      resolve()
    }
  })
  const ready = vi.fn(() => arrived)
  return {
    sentences,
    ready,
    arrive: () => arrive(),
    client: whenToolsReady({ client: sentences, sentences }, ready),
  }
}

describe('whenToolsReady', () => {
  it('answers what needs no server while the servers are still being tried', async () => {
    const { client, ready } = home()
    expect(await client.ask('what time is it')).toMatchObject({ text: 'Clock is done.' })
    expect(ready).not.toHaveBeenCalled()
  })

  it('lets a question wait for the tool that it needs', async () => {
    const { client, ready, arrive } = home()
    const answered = client.ask('turn on the lamp')
    await vi.waitFor(() => expect(ready).toHaveBeenCalledOnce())
    arrive()
    expect(await answered).toMatchObject({ text: 'Lamp is done.' })
  })

  it('lets every question to a model wait: it may need any tool', async () => {
    const { ready, arrive } = home()
    const ask = vi.fn<AiClient['ask']>(async () => {
      return { text: 'yes', messages: [], results: [], iterations: 1, stopReason: 'answer' }
    })
    const answered = whenToolsReady({ client: { ask } }, ready).ask('what time is it')
    await vi.waitFor(() => expect(ready).toHaveBeenCalledOnce())
    expect(ask).not.toHaveBeenCalled()
    arrive()
    await answered
    expect(ask).toHaveBeenCalledOnce()
  })

  it('stops waiting when the question is stopped, and no longer listens to the signal', async () => {
    const { client } = home()
    const controller = new AbortController()
    const { signal } = controller
    const remove = vi.spyOn(signal, 'removeEventListener')
    const answered = client.ask('turn on the lamp', { signal })
    controller.abort()
    await expect(answered).rejects.toMatchObject({ name: 'ModelError', code: 'stopped' })
    expect(remove).toHaveBeenCalledOnce()
    await expect(client.ask('turn on the lamp', { signal })).rejects.toMatchObject({ code: 'stopped' })
  })
})
