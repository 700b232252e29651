// MCP servers that flood, grow, go silent or do not exit.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { call } from './gateway.mjs'
import { HTTP_ATTACKS, serveHostile } from './hostile-http.mjs'
import { STORMS as QUESTION_STORMS, RESULTS } from './hostile-offers.mjs'

const SERVER = fileURLToPath(new URL('hostile-stdio.mjs', import.meta.url))
export const stdio = (...attack) => ({
  mcpServers: {
    hostile: { command: process.execPath, args: [SERVER, ...attack], timeoutMs: 1_000, maxTimeoutMs: 10_000 },
  },
})
const times = (count, make) => Promise.all(Array.from({ length: count }, make))

/** They start with a call to `begin`, and last for a while. */
const STORMS = [
  'list_changed after every list',
  'a million stray answers',
  'a million junk lines',
  'a million notifications',
  'a million requests',
  '200 MB on stderr',
  '200,000 tools in a page',
  '100,000 equal names',
  '20,000 tools that vanish again',
  'pages without end',
  'hostile names and schemas',
].map(attack => ({
  name: `stdio server: ${attack}`,
  setUp: () => stdio(attack),
  async run({ url }) {
    await ready(url, 'begin')
    const results = [await call(url, 'begin', {}, { timeoutMs: 5_000 })]
    await pause(4_000)
    return [...results, await call(url, 'victim', {}, { timeoutMs: 10_000 })]
  },
}))

const ANSWERS = [
  'a line without end',
  'a line of 16 MB of {},',
  'a line of 15 MB of text',
  'a line of 15 MB of numbers',
  'a result 100,000 deep',
  'result: null',
  'a million progress notifications',
].map(attack => ({
  name: `stdio server: ${attack}`,
  setUp: () => stdio(attack),
  async run({ url }) {
    await ready(url, 'victim')
    // Progress extends the deadline, up to `maxTimeoutMs`.
    const timeoutMs = attack.includes('progress') ? 10_000 : 4_000
    return times(3, () => call(url, 'victim', {}, { timeoutMs }))
  },
}))

const RESULT_ATTACKS = Object.keys(RESULTS).map(attack => ({
  name: `stdio server: ${attack}`,
  setUp: () => stdio(attack),
  async run({ url }) {
    await ready(url, 'victim')
    return times(3, () => call(url, 'victim', {}, { timeoutMs: 4_000 }))
  },
}))

const OFFER_STORMS = [...Object.keys(QUESTION_STORMS), '60,000 resources and prompts'].map(attack => ({
  name: `stdio server: ${attack}`,
  setUp: () => stdio(attack),
  async run({ url }) {
    await ready(url, 'victim')
    const results = times(3, () => call(url, 'victim', {}, { timeoutMs: 10_000 }))
    const offers = times(3, () => listed(url, 'api/servers/hostile/offers'))
    return [...(await results), ...(await offers)].filter(Boolean)
  },
}))

const deaf = {
  name: 'stdio server: stdin that nobody reads',
  codes: /^(?:success|timeout|unavailable)$/,
  setUp: () => stdio('stdin that nobody reads'),
  async run({ url }) {
    await ready(url, 'begin')
    const results = [await call(url, 'begin', {})]
    for (let round = 0; round < 10; round++)
      results.push(
        ...(await times(20, () => call(url, 'victim', { text: 'x'.repeat(500_000) }, { timeoutMs: 500 }))),
      )
    return results
  },
}

const leftovers = {
  name: 'stdio server: never ends, with grandchildren; gateway killed',
  setUp: () => stdio('never ends, with grandchildren'),
  async run({ url, kill }) {
    await ready(url, 'victim')
    const results = [await call(url, 'victim', {})]
    const begun = processesWith('never ends, with grandchildren', 'attack-grandchild')
    await kill()
    for (
      let tries = 0;
      tries < 100 && processesWith('never ends, with grandchildren', 'attack-grandchild') > 0;
      tries++
    )
      await pause(100)
    const left = processesWith('never ends, with grandchildren', 'attack-grandchild')
    return [...results, { code: left === 0 ? 'success' : `${left} of ${begun} processes left`, lateMs: 0 }]
  },
  isKilled: true,
}

const http = HTTP_ATTACKS.map(attack => ({
  name: `HTTP server: ${attack}`,
  codes: /^(?:success|timeout|unavailable|tool_error)$/,
  async setUp() {
    const { url, close } = await serveHostile(attack)
    return { mcpServers: { hostile: { url, timeoutMs: 1_000, maxTimeoutMs: 3_000 } }, tearDown: close }
  },
  async run({ url }) {
    await ready(url, 'victim')
    return times(3, () => call(url, 'victim', {}, { timeoutMs: 3_000 }))
  },
}))

export const serverAttacks = [
  ...STORMS,
  ...ANSWERS,
  ...RESULT_ATTACKS,
  ...OFFER_STORMS,
  deaf,
  ...http,
  leftovers,
]

export async function ready(url, tool) {
  for (let tries = 0; tries < 100; tries++) {
    const { tools } = await (await fetch(`${url}api/tools`)).json()
    if (tools.some(({ name }) => name === tool)) return
    await pause(100)
  }
  throw new Error(`the server never offered ${tool}`)
}

/** A list that one tool breaks counts as a failed call. */
export async function listed(url, path) {
  const response = await fetch(url + path)
  await response.text()
  return response.status === 200 ? undefined : { code: `HTTP ${response.status} of ${path}`, lateMs: 0 }
}

function processesWith(...words) {
  return readdirSync('/proc').filter(pid => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return /^\d+$/.test(pid) && words.some(word => line.includes(word)) && !line.includes('attack/main')
    } catch {
      return false
    }
  }).length
}
