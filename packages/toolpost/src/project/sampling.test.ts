import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { configFolder } from '../../test/config-folder.ts'
import { ToolExecutor } from '../executor/executor.ts'
import { silentLogger } from '../logging/logger.ts'
import { OllamaClient } from '../models/index.ts'
import { fakeOllama } from '../testing/fake-ollama.ts'
import type { Question } from '../tools/caller.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { openProject } from './open-project.ts'
import { sampling } from './sampling.ts'

afterEach(() => void vi.unstubAllEnvs())

const EVERYTHING = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const TRIGGER = { name: 'trigger-sampling-request', args: { prompt: 'say hi', maxTokens: 9_999 } }

async function open(config: object) {
  const everything = { command: process.execPath, args: [EVERYTHING, 'stdio'], sampling: true }
  const folder = configFolder({ 'toolpost.json': { mcpServers: { everything }, ...config } })
  const file = join(folder, 'toolpost.json')
  const said: string[] = []
  const project = await openProject({ file, logger: () => silentLogger, say: text => said.push(text) })
  await project.ready()
  return { project, said, [Symbol.asyncDispose]: () => project.close() }
}

describe('a server that asks for a message of a model', () => {
  it('gets it from the model of the project, once a person has read the prompt and allowed it', async () => {
    await using ollama = await fakeOllama({ replies: [{ text: 'Hi there', stopReason: 'stop' }] })
    vi.stubEnv('OLLAMA_BASE_URL', ollama.url)
    await using opened = await open({ model: 'ollama:qwen3:0.6b' })
    const { project } = opened
    const asked: Question[] = []
    const events: unknown[] = []
    project.executor.observe(event => event.result && events.push(event.call.name))
    const result = await project.executor.run(TRIGGER, {
      origin: 'cli',
      ask: async question => {
        asked.push(question)
        return { action: 'accept' }
      },
    })
    expect(result).toMatchObject({ success: true })
    const { text = '' } = result as { text?: string; result: string }
    expect(text || (result as { result: string }).result).toContain('"text": "Hi there"')
    expect(JSON.stringify(result)).toContain('endTurn')
    expect(asked).toHaveLength(1)
    expect(asked[0]?.message).toContain('Run everything__sampling with')
    expect(asked[0]?.message).toContain('say hi')
    expect(ollama.requests[0]?.body).toMatchObject({
      messages: [{ role: 'system', content: 'You are a helpful test server.' }, { role: 'user' }],
      options: { num_predict: 4_096, temperature: 0.7 },
    })
    expect(ollama.requests[0]?.body.tools).toBeUndefined()
    expect(events).toEqual(['everything__sampling', 'trigger-sampling-request'])
    expect(project.tools.findTool('everything__sampling')).toBeUndefined()
    expect(await project.executor.run({ name: 'everything__sampling', args: {} })).toMatchObject({
      code: 'unknown_tool',
    })
  })

  it('is refused if the person says no, if a rule does, and if there is no model', async () => {
    await using ollama = await fakeOllama({ replies: ['never'] })
    vi.stubEnv('OLLAMA_BASE_URL', ollama.url)
    const run = async (config: object, action: 'accept' | 'decline' = 'accept') => {
      await using opened = await open(config)
      const { project, said } = opened
      const result = await project.executor.run(TRIGGER, { origin: 'cli', ask: async () => ({ action }) })
      return { text: JSON.stringify(result), said }
    }
    expect((await run({ model: 'ollama:qwen3:0.6b' }, 'decline')).text).toContain('denied by the user (cli)')
    const rule = { tools: 'everything__sampling', then: 'deny', because: 'tokens are dear' }
    const denied = await run({ model: 'ollama:qwen3:0.6b', policy: [rule] })
    expect(denied.text).toContain("Tool 'everything__sampling' was denied: tokens are dear")
    expect(denied.said).toEqual([])
    expect((await run({ model: 'offline' })).text).toContain('No model is available for sampling')
    expect(ollama.requests).toHaveLength(0)
  })
})

const text = (said: string) => ({ role: 'user', content: { type: 'text', text: said } })

describe('what is asked of the model', () => {
  const executor = new ToolExecutor(new ToolManager())
  const writing = (writer: OllamaClient) => {
    const choose = async () => ({ client: writer, writer, name: 'x:y', why: '' })
    const sample = sampling(executor, choose)
    return (params: object) => sample(params as Record<string, unknown>, { server: 's' })
  }

  it.each([
    ['tools', { messages: [text('x')], tools: [] }, /with tools is not supported/],
    ['no message', { messages: [] }, /at least one message/],
  ])('is refused in words: %s', async (_what, params, words) => {
    await using ollama = await fakeOllama({ replies: ['never'] })
    const write = writing(new OllamaClient({ baseUrl: ollama.url, environment: {} }))
    await expect(write(params)).rejects.toThrow(words)
    expect(ollama.requests).toHaveLength(0)
  })
})
