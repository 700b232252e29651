// A configurable server in plain JSON-RPC: it starts fast and may break every rule. Over stdio, it takes its options as JSON
// in the first argument; `offering(options)` handles messages for other transports.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { echoed, needs, toolsOf } from './offering-tools.mjs'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const object = { type: 'object' }

function refuse(code, message) {
  throw Object.assign(new Error(message), { code })
}

export function offering(options = {}) {
  const { name = 'offering', protocol = 'legacy', instructions } = options
  const isModern = protocol === 'modern'
  const lists = { resources: [], templates: [], prompts: [], ...options }
  const capabilities = {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  }
  const seen = []
  const waiting = new Map()
  const held = new Map()
  const listeners = new Map()
  let asked = 0
  const tools = toolsOf({ isModern, seen, held, listeners, lists, elicit, notify })
  const own = Object.keys(tools).map(each => ({ name: each, inputSchema: object }))
  lists.tools = [...own, ...(options.tools ?? [])]

  const page =
    (kind, field = kind) =>
    ({ cursor }) => {
      const entry = at => ({ name: `n${at}`, uri: `x:///n${at}`, uriTemplate: `x:///n${at}/{a}` })
      if (options.endless === kind)
        return { [field]: [entry(cursor)], nextCursor: `${Number(cursor ?? 0) + 1}` }
      const count = options.generate?.[kind]
      return { [field]: count ? Array.from({ length: count }, (_, at) => entry(at)) : lists[kind] }
    }

  const methods = {
    initialize: () =>
      isModern
        ? refuse(-32022, 'Unsupported protocol version')
        : { protocolVersion: '2025-11-25', capabilities, serverInfo: { name, version: '1' }, instructions },
    'server/discover': () =>
      isModern
        ? { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, instructions, ttlMs: 0 }
        : refuse(-32601, 'Method not found'),
    ping: () => ({}),
    'subscriptions/listen'({ notifications }, { id, send }) {
      listeners.set(id, notifications)
      const params = { notifications, _meta: { [SUBSCRIPTION]: id } }
      send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
    },
    'tools/list': page('tools'),
    'resources/list': page('resources'),
    'resources/templates/list': page('templates', 'resourceTemplates'),
    'prompts/list': page('prompts'),
    async 'resources/read'(params, way) {
      const { uri } = params
      const answered = uri.endsWith('ask') && (await elicit({ message: 'Really?' }, params, way))
      if (answered?.resultType) return answered
      const below = { uri: `${uri}/below`, text: 'b' }
      const { mimeType = 'text/plain', _meta } = lists.resources.find(each => each.uri === uri) ?? {}
      const text = answered ? JSON.stringify(answered) : `${name} ${uri}`
      const contents = [{ uri, mimeType, text, ...(_meta && { _meta }) }]
      return { contents: uri.endsWith('sub') ? [...contents, below] : contents }
    },
    async 'prompts/get'(params, way) {
      const answered = params.name.endsWith('ask') && (await elicit({ message: 'Really?' }, params, way))
      if (answered?.resultType) return answered
      if (!lists.prompts.some(each => each.name === params.name))
        refuse(-32602, `${name} has no ${params.name}`)
      const given = JSON.stringify(answered || (params.arguments ?? {}))
      const text = answered ? given : `${name} ${params.name} ${given}`
      return { messages: [{ role: 'user', content: { type: 'text', text } }] }
    },
    'completion/complete': ({ ref, argument }) => ({
      completion: { values: [`${name}:${ref.name ?? ref.uri}:${argument.value}`] },
    }),
    'resources/subscribe': () =>
      options.refusesWhile && existsSync(options.refusesWhile) ? refuse(-32000, 'Not now') : {},
    'resources/unsubscribe': () => ({}),
    'logging/setLevel': () => ({}),
    'tools/call'(params, way) {
      const { name: called, arguments: args = {} } = params
      return Object.hasOwn(tools, called) ? tools[called](args, params, way) : echoed(called, args)
    },
  }

  return { handle }

  async function handle({ id, method, params = {}, ...message }, send) {
    if (method === undefined) return waiting.get(id)?.(message)
    seen.push([method, params])
    if (method === 'notifications/cancelled') held.delete(params.requestId)
    if (id === undefined) return
    const request = (theirs, given) =>
      new Promise(resolve => {
        const mine = `s${++asked}`
        waiting.set(mine, resolve)
        send({ jsonrpc: '2.0', id: mine, method: theirs, params: given })
      })
    try {
      const known = methods[method] ?? (() => refuse(-32601, 'Method not found'))
      const result = await known(params, { id, send, request })
      if (result !== undefined) send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      send({ jsonrpc: '2.0', id, error: { code: error.code ?? -32603, message: error.message } })
    }
  }

  /** Asks by a request of its own, or in place of a result. */
  async function elicit(asking, params, { request }) {
    const question = { requestedSchema: { ...object, properties: {} }, ...asking }
    if (!isModern) return (await request('elicitation/create', question)).result
    if (params.inputResponses) return params.inputResponses.one
    return needs({ one: { method: 'elicitation/create', params: question } }, 'state "ü" \n ✓')
  }

  /** To all listeners, in the newest protocol. */
  function notify(send, method, params = {}) {
    const isChange = method.endsWith('list_changed') || method.endsWith('resources/updated')
    if (!isModern || !isChange) return send({ jsonrpc: '2.0', method, params })
    for (const listener of listeners.keys()) {
      const told = { ...params, _meta: { [SUBSCRIPTION]: listener } }
      ;(options.sendTo?.(listener) ?? send)({ jsonrpc: '2.0', method, params: told })
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { handle } = offering(JSON.parse(process.argv[2] ?? '{}'))
  const send = message => process.stdout.write(`${JSON.stringify(message)}\n`)
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const line of lines) if (line.trim() !== '') void handle(JSON.parse(line), send)
  })
  process.stdin.on('end', () => process.exit(0))
}
