import { describe, expect, it } from 'vitest'
import { ToolExecutor } from '../executor/executor.ts'
import { fakeOllama } from '../testing/fake-ollama.ts'
import { fakeOpenAi } from '../testing/fake-openai.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { listModels } from './find-models.ts'
import { AnthropicClient, chooseClient, chooseClientOrOffline, OfflineClient, OllamaClient } from './index.ts'

const executor = new ToolExecutor(new ToolManager())
/** Nothing answers at port 1, and nothing else is looked for. */
const NOWHERE = { OLLAMA_BASE_URL: 'http://127.0.0.1:1', OPENAI_BASE_URL: 'http://127.0.0.1:1' }
const KEY = { ANTHROPIC_API_KEY: 'sk-test-key' }

describe('which client', () => {
  it('takes what was asked for, whatever else there is', async () => {
    const config = { model: 'offline' }
    const environment = { ...NOWHERE, ...KEY, OLLAMA_MODEL: 'other' }
    const ollama = await chooseClient({ executor, model: 'ollama:qwen3:0.6b', config, environment })
    expect(ollama.client).toBeInstanceOf(OllamaClient)
    expect(ollama).toMatchObject({ name: 'ollama:qwen3:0.6b', why: 'requested with --model' })
    const names = ['anthropic:claude-x', 'ollama', 'openai:gpt-x', 'offline']
    const chosen = await Promise.all(names.map(model => chooseClient({ executor, model, environment })))
    expect(chosen.map(({ name }) => name)).toEqual([
      'anthropic:claude-x',
      'ollama:other',
      'openai:gpt-x',
      'offline',
    ])
    const configured = await chooseClient({ executor, config, environment })
    expect(configured).toMatchObject({ name: 'offline', why: 'set in the configuration' })
  })

  it('else a reachable Ollama with a model that can use tools, before a key', async () => {
    await using server = await fakeOllama({
      models: { 'a:1b': ['completion'], 'b:1b': ['completion', 'tools'] },
    })
    const environment = { ...NOWHERE, ...KEY, OLLAMA_BASE_URL: server.url }
    const chosen = await chooseClient({ executor, environment })
    expect(chosen).toMatchObject({ name: 'ollama:b:1b', why: `Ollama at ${server.url} has it` })
    const without = await chooseClient({ executor, environment: { ...environment, OLLAMA_MODEL: 'a:1b' } })
    expect(without.name).toMatch(/^anthropic:/)
    expect(without.why).toBe("'a:1b' on Ollama cannot use tools, and ANTHROPIC_API_KEY is set")
  })

  it('else an OpenAI-compatible server on this machine, which does not get a key', async () => {
    const seen: [string, string | null][] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      seen.push([String(url), new Headers(init?.headers).get('authorization')])
      if (String(url) === 'http://127.0.0.1:1234/v1/models')
        return Response.json({ data: [{ id: 'nomic-embed' }, { id: 'qwen3' }] })
      throw new TypeError('fetch failed')
    }
    const environment = { OPENAI_API_KEY: 'sk-openai' }
    const chosen = await chooseClient({ executor, environment, fetch })
    expect(chosen).toMatchObject({
      name: 'openai:qwen3',
      why: 'LM Studio at http://127.0.0.1:1234/v1 has it',
    })
    await chosen.client.ask('hi').catch(() => {})
    expect(seen.at(-1)).toEqual(['http://127.0.0.1:1234/v1/chat/completions', 'Bearer none'])
    const named = await chooseClient({ executor, model: 'openai:qwen3', environment, fetch })
    expect(named.client).toMatchObject({ baseUrl: 'http://127.0.0.1:1234/v1' })
    expect((await listModels({ environment, fetch })).map(({ name }) => name)).toEqual([
      'openai:qwen3',
      'offline',
    ])
  })

  it('else a key, else sentences alone, and says why', async () => {
    const withKey = await chooseClient({ executor, environment: { ...NOWHERE, ...KEY } })
    expect(withKey.client).toBeInstanceOf(AnthropicClient)
    expect(withKey.why).toBe('Ollama is not running at http://127.0.0.1:1, and ANTHROPIC_API_KEY is set')
    const openAi = await chooseClient({ executor, environment: { ...NOWHERE, OPENAI_API_KEY: 'sk-x' } })
    expect(openAi.name).toBe('openai:gpt-5-mini')
    const offline = await chooseClient({ executor, environment: NOWHERE })
    expect(offline.client).toBeInstanceOf(OfflineClient)
    expect(offline.why).toBe(
      'Ollama is not running at http://127.0.0.1:1, and neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set',
    )
  })

  it.each(['gemini:x', ':'])('refuses the provider of "%s"', async model => {
    await expect(chooseClient({ executor, model, environment: {} })).rejects.toMatchObject({
      code: 'unknown_provider',
      message: expect.stringContaining('use ollama:<model>, anthropic:<model>, openai:<model> or offline'),
    })
  })

  it.each(['anthropic', 'openai'])('refuses %s without a key, or falls back to sentences', async model => {
    const fetch = () => Promise.reject(new TypeError('fetch failed'))
    const options = { executor, model, environment: {}, fetch }
    await expect(chooseClient(options)).rejects.toMatchObject({ code: 'missing_key' })
    const chosen = await chooseClientOrOffline(options)
    expect(chosen.sentences).toBe(chosen.client)
    expect(chosen).toMatchObject({ name: 'offline', why: expect.stringContaining('_API_KEY') })
  })

  it('gives the settings of the configuration to the client', async () => {
    await using ollama = await fakeOllama({ replies: ['Hello.'] })
    await using openAi = await fakeOpenAi({ apiKey: 'sk-mine', replies: ['Hello.'] })
    const models = {
      ollama: { think: false, keepAlive: '2h' },
      openai: { baseUrl: `${openAi.url}/v1`, apiKey: 'sk-mine' },
    }
    const environment = { OLLAMA_BASE_URL: ollama.url }
    for (const model of ['ollama:qwen3:0.6b', 'openai:fake']) {
      const { client } = await chooseClient({ executor, config: { model, models }, environment })
      expect((await client.ask('hello')).text).toBe('Hello.')
    }
    expect(ollama.requests[0]?.body).toMatchObject({ think: false, keep_alive: '2h' })
  })
})
