// Arguments, results and expressions that are expensive to process.
import { call } from './gateway.mjs'

const numbers = length => Array.from({ length }, (_, n) => n)
const closed = {
  name: 'closed',
  description: 'Attacked',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      list: {
        type: 'array',
        items: { type: 'object', additionalProperties: false, properties: { n: { type: 'integer' } } },
      },
      text: { type: 'string' },
    },
  },
  implementation: { type: 'mock', mock_response: 'done' },
  timeout_ms: 1_000,
}
const names = count => Object.fromEntries(numbers(count).map(n => [`n${n}`, n]))
const deep = depth => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** As text, since some of them could not be written as objects. */
const BODIES = {
  '900 nulls': JSON.stringify({ list: numbers(900).map(() => null) }),
  '40,000 entries with extras': JSON.stringify({ list: numbers(40_000).map(n => ({ n, extra: n })) }),
  '30,000 names': JSON.stringify(Object.fromEntries(numbers(30_000).map(n => [`n${n}`, n]))),
  // Just under the limit, so that they are processed.
  '24,000 names': JSON.stringify(Object.fromEntries(numbers(24_000).map(n => [`n${n}`, n]))),
  '90,000 names': JSON.stringify(Object.fromEntries(numbers(90_000).map(n => [`n${n}`, 1]))),
  '50,000 numbers as names': JSON.stringify(
    Object.fromEntries(numbers(50_000).map(n => [`${(n * 7_919) % 4_000_037}`, 1])),
  ),
  '5,000 deep': deep(5_000),
  '300,000 deep': deep(150_000),
  '900 kB of escapes': `{"text":"${'\\u0041'.repeat(150_000)}"}`,
  '900 kB of quotes': JSON.stringify({ text: '"'.repeat(450_000) }),
  '900 kB of empty objects': `{"list":[${'{},'.repeat(299_000)}{}]}`,
  '__proto__ and constructor':
    '{"__proto__":{"a":1},"constructor":{"prototype":{"b":1}},"list":[{"__proto__":{}}]}',
  '150,000 lone surrogates': `{"text":"${'\\ud800'.repeat(150_000)}"}`,
  '150,000 small texts': JSON.stringify({ list: numbers(150_000).map(() => 'a') }),
  '400,000 numbers': JSON.stringify({ list: numbers(400_000).map(() => 1) }),
  '30 objects of 1,900 names': JSON.stringify({ list: numbers(30).map(() => names(1_900)) }),
  '4 objects of 12,000 names': JSON.stringify({ list: numbers(4).map(() => names(12_000)) }),
  '190 levels of 80 names': JSON.stringify(numbers(190).reduce(inner => ({ ...names(80), inner }), {})),
  'a number of 900,000 digits': `{"list":[${'1'.repeat(900_000)}]}`,
  '100,000 numbers with exponents': JSON.stringify({ list: numbers(100_000).map(() => 0) }).replaceAll(
    '0',
    '1e400',
  ),
  '450 names of 1,900 characters': JSON.stringify(
    Object.fromEntries(numbers(450).map(n => [`${n}${'x'.repeat(1_900)}`, n])),
  ),
  'secrets by the thousand': JSON.stringify({ text: 'password: x token=y Bearer abcdefgh '.repeat(20_000) }),
}

const bodyAttacks = Object.entries(BODIES).map(([name, body]) => ({
  name: `arguments: ${name}`,
  codes: /^(?:success|timeout|invalid_arguments|HTTP 4\d\d)$/,
  setUp: () => ({ tools: [closed] }),
  run: ({ url }) => Promise.all(numbers(8).map(() => call(url, 'closed', undefined, { body }))),
}))

const ENDLESS = [
  'f(n) = n < 2 ? n : f(n - 1) + f(n - 2); f(60)',
  'inv(ones(500, 500) + identity(500))',
  '1:1e9',
  'zeros(1e8)',
  'map(1:3e6, f(x) = x ^ x)',
  'ones(2e4, 2e4)',
]

const mathAttack = {
  name: 'math_eval: 40 endless expressions',
  codes: /^(?:timeout|tool_error|limited)$/,
  async run({ url }) {
    const endless = numbers(40).map(n =>
      call(url, 'math_eval', { expression: ENDLESS[n % ENDLESS.length] }, { timeoutMs: 3_000 }),
    )
    return Promise.all(endless)
  },
}

const fairness = {
  name: 'math_eval: 2+2 next to 20 endless expressions of others',
  codes: /^success$/,
  async run({ url }) {
    const endless = numbers(20).map(n =>
      call(url, 'math_eval', { expression: ENDLESS[n % 2] }, { timeoutMs: 5_000 }),
    )
    const client = await import('./mcp-client.mjs')
    const other = await client.connect(url)
    const began = performance.now()
    const answer = await other.request('tools/call', { name: 'math_eval', arguments: { expression: '2+2' } })
    const code = /4/.test(JSON.stringify(answer?.result)) ? 'success' : JSON.stringify(answer).slice(0, 200)
    const result = { code, lateMs: performance.now() - began - 2_000 }
    await Promise.all(endless)
    return [result]
  },
}

export const argumentAttacks = [...bodyAttacks, mathAttack, fairness]
