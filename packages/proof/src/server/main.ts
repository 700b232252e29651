// An MCP server over stdio or Streamable HTTP that misbehaves on request. JSON-RPC by hand, so that it can be wrong.
import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { note } from '../ledger.ts'
import { behaviours, type Call, otherwise, type Reply } from './behaviours.ts'
import { type ListedTool, listedTools, type ServerSettings } from './tools.ts'

/** What a module adds for tests of its own: tools in place of ours, what they do, and other answers to messages. */
interface Extension {
  tools?: ListedTool[]
  behaviours?: Record<string, (call: Call) => void | Promise<void>>
  /** Whether it answered. */
  handle?(message: Message, reply: Reply): boolean
}

interface Message {
  id?: number | string
  method?: string
  params?: Record<string, unknown> & {
    arguments?: Record<string, unknown>
    _meta?: { progressToken?: unknown }
  }
}

const settings: ServerSettings = JSON.parse(process.argv[2] ?? '{}')
const { ledger, faults, port, prefix } = settings
const extension: Extension = settings.extension ? await import(settings.extension) : {}
let tools = extension.tools ?? listedTools(settings)
const calls = new Map<unknown, Call>()

const changed = (name: string, by: Partial<ListedTool>) =>
  tools.map(tool => (tool.name === name ? { ...tool, ...by } : tool))
const changes: Record<string, () => ListedTool[]> = {
  add: () => [...tools, { ...(tools[0] as ListedTool), name: 'added' }],
  remove: () => tools.filter(({ name }) => name !== 'removable'),
  rename: () => changed('renamable', { name: 'renamed' }),
  schema: () =>
    changed('temporary', { inputSchema: { type: 'object', properties: { id: {} }, required: ['id'] } }),
}

/** The tool that changes the list, and says so; a storm says so a thousand times. */
function change(call: Call): void {
  const kind = String(call.args.kind)
  call.note('fault', kind)
  tools = changes[kind]?.() ?? tools
  const count = kind === 'storm' ? 1_000 : 1
  for (let n = 0; n < count; n++) call.notify({ method: 'notifications/tools/list_changed' })
  call.send({ id: call.id, result: { content: [{ type: 'text', text: 'changed' }] } })
}

function handle(message: Message, reply: Reply): void {
  const { id, method, params = {} } = message
  if (extension.handle?.(message, reply)) return
  if (method === 'initialize') {
    if (faults.hangs) return note(ledger, { what: 'fault', detail: 'hang' })
    const capabilities = { tools: { listChanged: true }, logging: {} }
    const serverInfo = { name: 'misbehaving', version: '1.0.0' }
    reply.send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } })
  } else if (method === 'tools/list') {
    note(ledger, { what: 'list' })
    reply.send({ id, result: { tools } })
  } else if (method === 'tools/call' && id !== undefined) {
    startCall(id, params, reply)
  } else if (method === 'notifications/cancelled') {
    calls.get(params.requestId)?.note('cancelled', 'notification')
  } else if (method === 'ping' || method === 'logging/setLevel') {
    reply.send({ id, result: {} })
  } else if (id !== undefined && method !== undefined) {
    reply.send({ id, error: { code: -32_601, message: 'Method not found' } })
  }
}

function startCall(id: number | string, params: NonNullable<Message['params']>, reply: Reply): void {
  const args = params.arguments ?? {}
  const tool = String(params.name)
  const key = String(args.key ?? args.id)
  const noteThis: Call['note'] = (what, detail) =>
    note(ledger, { what, key, ...(detail !== undefined && { detail }) })
  const progressToken = params._meta?.progressToken
  const call: Call = { ...reply, id, tool, key, args, progressToken, note: noteThis }
  calls.set(id, call)
  // Large arguments are not kept: their size is enough.
  const size = JSON.stringify(args).length
  note(ledger, { what: 'call', tool, key, detail: size, ...(size < 10_000 && { args }) })
  const own = tool.slice(prefix.length)
  if (!tools.some(({ name }) => name === tool))
    reply.send({ id, error: { code: -32_602, message: `Unknown tool: ${tool}` } })
  else if (own === 'change') change(call)
  else void (extension.behaviours?.[tool] ?? behaviours[own] ?? otherwise)(call)
}

const wire = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

function serveStdio(): void {
  // Synchronous for a pipe: what was written has left this process before the next step, which may kill it.
  const raw = (bytes: string | Buffer) => void process.stdout.write(bytes)
  const send = (message: object) => raw(wire(message))
  let rest = ''
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) handle(JSON.parse(line), { send, raw, notify: send })
  })
  process.stdin.on('end', () => {
    if (!faults.isStubborn) process.exit(0)
  })
}

function serveHttp(listenOn: number): void {
  const sessions = new Set<string>()
  const streams = new Set<ServerResponse>()
  const event = (response: ServerResponse, message: object) =>
    response.write(`event: message\ndata: ${wire(message)}\n`)
  const notify = (message: object) => {
    for (const stream of streams) event(stream, message)
  }
  const server = createServer(async (request, response) => {
    const session = request.headers['mcp-session-id']
    if (session !== undefined && !sessions.has(String(session)))
      return response.writeHead(404).end('No such session')
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      streams.add(response)
      return response.on('close', () => streams.delete(response))
    }
    if (request.method !== 'POST') return response.end()
    const message = JSON.parse(await text(request)) as Message
    if (message.id === undefined || message.method === undefined) {
      handle(message, { send: () => {}, raw: () => {}, notify })
      return response.writeHead(202).end()
    }
    if (message.method === 'initialize') {
      const fresh = randomUUID()
      sessions.add(fresh)
      response.setHeader('mcp-session-id', fresh)
    }
    handle(message, { ...replyTo(message, response), notify })
  })
  server.listen(listenOn, '127.0.0.1', () =>
    note(ledger, { what: 'start', detail: (server.address() as AddressInfo).port }),
  )

  /** Answers as an event stream, which begins at once, or with a page in place of it. */
  function replyTo({ id, params }: Message, response: ServerResponse): Pick<Reply, 'send' | 'raw'> {
    const { status = 200, type = 'text/event-stream' } = params?.arguments ?? {}
    response.writeHead(Number(status), { 'content-type': String(type) }).flushHeaders()
    response.on('close', () => {
      if (!response.writableEnded) calls.get(id)?.note('cancelled', 'disconnected')
    })
    return {
      send: message => {
        event(response, message)
        if ('result' in message || 'error' in message) response.end()
      },
      raw: bytes => response.end(bytes),
    }
  }
}

if (faults.crashes) {
  note(ledger, { what: 'fault', detail: 'crash' })
  process.stderr.write('Cannot open the database: permission denied\n')
  process.exit(3)
}
if (faults.isStubborn) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1_000)
}
if (port !== undefined) serveHttp(port)
else {
  note(ledger, { what: 'start' })
  serveStdio()
}
