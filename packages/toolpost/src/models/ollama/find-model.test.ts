import { describe, expect, it } from 'vitest'
import { fakeOllama } from '../../testing/fake-ollama.ts'
import { findOllamaModel } from './find-model.ts'

/** On a busy machine the usual second may not be enough. */
const PATIENCE_MS = 10_000

describe('looking for a model on Ollama', () => {
  it('finds the first that can use tools', async () => {
    await using server = await fakeOllama({
      models: { 'old:latest': ['completion'], 'new:latest': ['completion', 'tools'] },
    })
    expect(await findOllamaModel({ timeoutMs: PATIENCE_MS, baseUrl: server.url })).toEqual({
      model: 'new:latest',
    })
    expect(await findOllamaModel({ timeoutMs: PATIENCE_MS, baseUrl: server.url, wanted: 'new' })).toEqual({
      model: 'new:latest',
    })
    expect(await findOllamaModel({ timeoutMs: PATIENCE_MS, baseUrl: server.url, wanted: 'old' })).toEqual({
      problem: "'old' on Ollama cannot use tools",
    })
    const { problem } = await findOllamaModel({
      timeoutMs: PATIENCE_MS,
      baseUrl: server.url,
      wanted: 'other',
    })
    expect(problem).toContain('`ollama pull other`')
  })

  it('says what is missing', async () => {
    await using server = await fakeOllama({ models: {} })
    expect((await findOllamaModel({ timeoutMs: PATIENCE_MS, baseUrl: server.url })).problem).toContain(
      'no model that can use tools',
    )
    await server.close()
    expect(await findOllamaModel({ timeoutMs: PATIENCE_MS, baseUrl: server.url })).toEqual({
      problem: `Ollama is not running at ${server.url}`,
    })
  })

  it.each(['nonsense', '{"models": 5}', '{"models": [null, {"name": 7}]}', '[]'])(
    'is not thrown by another program at that address: %s',
    async body => {
      const fetch = async () => new Response(body)
      expect(await findOllamaModel({ baseUrl: 'http://x', fetch })).toHaveProperty('problem')
    },
  )
})
