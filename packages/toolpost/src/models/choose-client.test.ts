import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeOllama } from '../testing/fake-ollama.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { AnthropicClient } from './anthropic/anthropic-client.ts'
import { chooseClient, chooseClientOrOffline } from './choose-client.ts'
import { OfflineClient } from './offline/offline-client.ts'
import { OllamaClient } from './ollama/ollama-client.ts'

const executor = new ToolExecutor(new ToolManager())
const NOWHERE = { OLLAMA_BASE_URL: 'http://127.0.0.1:1' }
const KEY = { ANTHROPIC_API_KEY: 'sk-test-key' }

describe('which client', () => {
  it('takes what was asked for, whatever else there is', async () => {
    const config = { model: 'offline' }
    const environment = { ...NOWHERE, ...KEY, OLLAMA_MODEL: 'other' }
    const ollama = await chooseClient({ executor, model: 'ollama:qwen3:0.6b', config, environment })
    expect(ollama.client).toBeInstanceOf(OllamaClient)
    expect(ollama).toMatchObject({ name: 'ollama:qwen3:0.6b', why: 'requested with --model' })
    const anthropic = await chooseClient({ executor, model: 'anthropic:claude-x', config, environment })
    expect(anthropic.client).toBeInstanceOf(AnthropicClient)
    expect(anthropic.name).toBe('anthropic:claude-x')
    expect((await chooseClient({ executor, model: 'ollama', environment })).name).toBe('ollama:other')
  })

  it('takes what the configuration says', async () => {
    const chosen = await chooseClient({ executor, config: { model: 'offline' }, environment: KEY })
    expect(chosen.client).toBeInstanceOf(OfflineClient)
    expect(chosen).toMatchObject({ name: 'offline', why: 'set in the configuration' })
  })

  it('else a reachable Ollama with a model that can use tools, before a key', async () => {
    await using server = await fakeOllama({
      models: { 'a:1b': ['completion'], 'b:1b': ['completion', 'tools'] },
    })
    const environment = { ...KEY, OLLAMA_BASE_URL: server.url }
    const chosen = await chooseClient({ executor, environment })
    expect(chosen).toMatchObject({ name: 'ollama:b:1b', why: `Ollama at ${server.url} has it` })
    const without = await chooseClient({ executor, environment: { ...environment, OLLAMA_MODEL: 'a:1b' } })
    expect(without.name).toMatch(/^anthropic:/)
    expect(without.why).toBe("'a:1b' on Ollama cannot use tools, and ANTHROPIC_API_KEY is set")
  })

  it('else a key, else sentences alone, and says why', async () => {
    const withKey = await chooseClient({ executor, environment: { ...NOWHERE, ...KEY } })
    expect(withKey.client).toBeInstanceOf(AnthropicClient)
    expect(withKey.why).toBe('Ollama is not running at http://127.0.0.1:1, and ANTHROPIC_API_KEY is set')
    const offline = await chooseClient({ executor, environment: NOWHERE })
    expect(offline.client).toBeInstanceOf(OfflineClient)
    expect(offline.why).toBe('Ollama is not running at http://127.0.0.1:1, and ANTHROPIC_API_KEY is not set')
  })

  it.each(['openai:gpt', 'qwen3:0.6b', ':', 'Ollama:x'])('refuses the provider of "%s"', async model => {
    await expect(chooseClient({ executor, model, environment: {} })).rejects.toMatchObject({
      code: 'unknown_provider',
      message: expect.stringContaining('use ollama:<model>, anthropic:<model> or offline'),
    })
  })

  it('refuses Anthropic without a key', async () => {
    await expect(chooseClient({ executor, model: 'anthropic', environment: {} })).rejects.toMatchObject({
      code: 'missing_key',
    })
  })

  it('puts the sentences before the model if the configuration says so', async () => {
    const config = { model: 'ollama:x', fastPath: true }
    const { client, name } = await chooseClient({ executor, config, environment: NOWHERE })
    expect(client).not.toBeInstanceOf(OllamaClient)
    expect(name).toBe('ollama:x')
    await expect(client.ask('tell me a joke')).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('falls back to sentences alone if the one asked for is unavailable, and says why', async () => {
    const chosen = await chooseClientOrOffline({ executor, model: 'anthropic', environment: {} })
    expect(chosen.sentences).toBe(chosen.client)
    expect(chosen).toMatchObject({ name: 'offline', why: expect.stringContaining('set ANTHROPIC_API_KEY') })
  })

  it('gives the settings of the configuration to the client', async () => {
    await using server = await fakeOllama({ replies: ['Hello.'] })
    const { client } = await chooseClient({
      executor,
      config: {
        model: 'ollama:qwen3:0.6b',
        models: { ollama: { think: false, keepAlive: '2h' } },
      },
      environment: { OLLAMA_BASE_URL: server.url },
    })
    await client.ask('hello')
    expect(server.requests[0]?.body).toMatchObject({ think: false, keep_alive: '2h' })
  })
})
