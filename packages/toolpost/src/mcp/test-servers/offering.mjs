// A configurable server in plain JSON-RPC: it starts fast and may break every rule. Over stdio, it takes its options as JSON
// in the first argument; `offering(options)` handles messages for other transports.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { echoed, needs, toolsOf } from './offering-tools.mjs'

const VERSION = '2026-07-28'
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const object = { type: 'object' }

export function offering(options = {}) {
  const {
    name = 'offering',
    protocol = 'legacy',
    capabilities = {},
    acknowledges = true,
    instructions,
  } = options
  const isModern = protocol === 'modern'
  const lists = {
    resources: [
      ...(options.bulky ? [{ uri: 'x:big', name: 'z'.repeat(600_000) }] : []),
      ...(options.resources ?? []),
    ],
    templates: options.templates ?? [],
    prompts: options.prompts ?? [],
    tools: [],
  }
  const able = {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...capabilities,
  }
  const seen = []
  const waiting = new Map()
  const held = new Map()
  const listeners = new Map()
  let asked = 0
  const tools = toolsOf({ isModern, seen, held, listeners, lists, elicit, notify })
  lists.tools = [
    ...Object.keys(tools).map(each => ({ name: each, inputSchema: object })),
    ...(options.tools ?? []),
  ]

  const page = (kind, field, { cursor }) => {
    if (options.endless === kind)
      return {
        [field]: [{ name: `p${cursor}`, uri: `x:${cursor}`, uriTemplate: `x:${cursor}/{a}` }],
        nextCursor: `${Number(cursor ?? 0) + 1}`,
      }
    const count = options.generate?.[kind]
    const made = count
      ? Array.from({ length: count }, (_, at) => ({
          name: `n${at}`,
          uri: `x:///n${at}`,
          uriTemplate: `x:///n${at}/{a}`,
        }))
      : lists[kind]
    return { [field]: made }
  }

  return { handle }

  async function handle(message, send) {
    const { id, method, params = {} } = message
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
      const result = await answer(method, params, { id, send, request })
      if (result !== undefined) send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      send({ jsonrpc: '2.0', id, error: { code: error.code ?? -32603, message: error.message } })
    }
  }

  async function answer(method, params, way) {
    const refuse = (code, message) => {
      throw Object.assign(new Error(message), { code })
    }
    switch (method) {
      case 'initialize':
        if (isModern) refuse(-32022, 'Unsupported protocol version')
        return {
          protocolVersion: '2025-11-25',
          capabilities: able,
          serverInfo: { name, version: '1' },
          instructions,
        }
      case 'server/discover':
        if (!isModern) refuse(-32601, 'Method not found')
        return {
          resultType: 'complete',
          supportedVersions: [VERSION],
          capabilities: able,
          instructions,
          ttlMs: 0,
          cacheScope: 'private',
          _meta: { 'io.modelcontextprotocol/serverInfo': { name, version: '1' } },
        }
      case 'ping':
        return {}
      case 'subscriptions/listen':
        listeners.set(way.id, params.notifications)
        if (acknowledges)
          way.send({
            jsonrpc: '2.0',
            method: 'notifications/subscriptions/acknowledged',
            params: { notifications: params.notifications, _meta: { [SUBSCRIPTION]: way.id } },
          })
        return undefined
      case 'tools/list':
        return page('tools', 'tools', params)
      case 'resources/list':
        return page('resources', 'resources', params)
      case 'resources/templates/list':
        return page('templates', 'resourceTemplates', params)
      case 'prompts/list':
        return page('prompts', 'prompts', params)
      case 'resources/read':
        return read(params, way, refuse)
      case 'prompts/get':
        return prompt(params, way, refuse)
      case 'completion/complete':
        if (params.argument.name === 'never') return undefined
        return {
          completion: { values: [`${name}:${params.ref.name ?? params.ref.uri}:${params.argument.value}`] },
        }
      case 'resources/subscribe':
        if (options.refusesWhile && existsSync(options.refusesWhile)) refuse(-32000, 'Not now')
        return {}
      case 'resources/unsubscribe':
      case 'logging/setLevel':
        return {}
      case 'tools/call':
        return call(params, way)
      default:
        return refuse(-32601, 'Method not found')
    }
  }

  function call(params, way) {
    const { name: called, arguments: args = {} } = params
    return Object.hasOwn(tools, called) ? tools[called](args, params, way) : echoed(called, args)
  }

  async function special(key, params, way) {
    if (key.endsWith('never')) return 'nothing'
    if (key.endsWith('die')) process.exit(3)
    if (key.endsWith('ask'))
      return {
        answered: await elicit(
          { message: 'Really?', requestedSchema: { ...object, properties: {} } },
          params,
          way,
        ),
      }
    return undefined
  }

  async function read(params, way, refuse) {
    const { uri } = params
    const odd = await special(uri, params, way)
    if (odd === 'nothing') return undefined
    if (odd?.answered?.resultType) return odd.answered
    if (uri.endsWith('broken')) return { contents: 'none' }
    if (uri.endsWith('odd')) return { contents: [1, null, { uri, text: 'left' }] }
    if (uri.endsWith('sub'))
      return {
        contents: [
          { uri, text: 'a' },
          { uri: `${uri}/below`, text: 'b' },
        ],
      }
    const mb = /(\d+)mb$/.exec(uri)
    if (mb) return { contents: [{ uri, blob: 'QUJD'.repeat((Number(mb[1]) * 1_000_000) / 4) }] }
    if (uri.endsWith('missing')) refuse(-32002, `${name} has no ${uri}`)
    const known = lists.resources.find(each => each.uri === uri)
    return {
      contents: [
        {
          uri,
          mimeType: known?.mimeType ?? 'text/plain',
          text: odd ? JSON.stringify(odd.answered) : `${name} ${uri}`,
          ...(known?._meta && { _meta: known._meta }),
        },
      ],
    }
  }

  async function prompt(params, way, refuse) {
    const odd = await special(params.name, params, way)
    if (odd === 'nothing') return undefined
    if (odd?.answered?.resultType) return odd.answered
    if (params.name.endsWith('broken')) return { messages: {} }
    if (!lists.prompts.some(each => each.name === params.name))
      refuse(-32602, `${name} has no ${params.name}`)
    const said = odd
      ? JSON.stringify(odd.answered)
      : `${name} ${params.name} ${JSON.stringify(params.arguments ?? {})}`
    return { messages: [{ role: 'user', content: { type: 'text', text: said } }] }
  }

  /** Asks by a request of its own, or in place of a result. */
  async function elicit(question, params, { request }) {
    if (!isModern) return (await request('elicitation/create', question)).result
    if (params.inputResponses) return params.inputResponses.one
    return needs({ one: { method: 'elicitation/create', params: question } }, 'state "ü" \n ✓')
  }

  /** To all listeners, in the newest protocol. */
  function notify(send, method, params = {}) {
    const isChange = method.endsWith('list_changed') || method.endsWith('resources/updated')
    if (!isModern || !isChange) return send({ jsonrpc: '2.0', method, params })
    for (const listener of listeners.keys())
      (options.sendTo?.(listener) ?? send)({
        jsonrpc: '2.0',
        method,
        params: { ...params, _meta: { [SUBSCRIPTION]: listener } },
      })
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
