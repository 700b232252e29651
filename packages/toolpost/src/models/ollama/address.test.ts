import { expect, it } from 'vitest'
import { ollamaAddress } from './address.ts'

it.each([
  [{}, 'http://127.0.0.1:11434'],
  [{ OLLAMA_BASE_URL: 'http://box:1234/' }, 'http://box:1234'],
  [{ OLLAMA_BASE_URL: 'http://box:1', OLLAMA_HOST: 'other' }, 'http://box:1'],
  [{ OLLAMA_HOST: 'box' }, 'http://box:11434'],
  [{ OLLAMA_HOST: 'box:5' }, 'http://box:5'],
  [{ OLLAMA_HOST: ':5' }, 'http://127.0.0.1:5'],
  [{ OLLAMA_HOST: '0.0.0.0' }, 'http://127.0.0.1:11434'],
  [{ OLLAMA_HOST: '0.0.0.0:5' }, 'http://127.0.0.1:5'],
  [{ OLLAMA_HOST: 'https://box.example/ollama' }, 'https://box.example/ollama'],
  [{ OLLAMA_HOST: 'box:80' }, 'http://box'],
  [{ OLLAMA_BASE_URL: ' ', OLLAMA_HOST: 'http://' }, 'http://127.0.0.1:11434'],
])('%j is %s', (environment, address) => {
  expect(ollamaAddress(environment)).toBe(address)
})
