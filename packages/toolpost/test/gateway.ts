import type { CallContext } from '../src/executor/context.ts'
import { ToolExecutor } from '../src/executor/executor.ts'
import type { GatewayOptions } from '../src/gateway/context.ts'
import { createGateway, type Gateway } from '../src/gateway/gateway.ts'
import { defineTool, type Tool } from '../src/tools/tool.ts'
import { ToolManager } from '../src/tools/tool-manager.ts'

export const ADDRESS = 'http://127.0.0.1:4040'
/** The owner's token of gateways that have clients. */
export const OWNER_TOKEN = 'the-token-of-the-owner'
const OWNER = { authorization: `Bearer ${OWNER_TOKEN}` }

export function deferred<T>() {
  let settle: (value: T) => void = () => {}
  const promise = new Promise<T>(resolve => {
    settle = resolve
  })
  return { promise, resolve: (value: T) => settle(value) }
}

/** A tool that ends when it is told to, and says when it was begun and aborted. */
export function patientTool(name = 'patient') {
  const begun = deferred<void>()
  const aborted = deferred<void>()
  const finished = deferred<string>()
  const tool = defineTool({
    name,
    description: 'Waits until it is told to end',
    schema: { type: 'object' },
    handler: (_args, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      return finished.promise
    },
  })
  return { tool, begun: begun.promise, aborted: aborted.promise, finish: finished.resolve }
}

/** A tool that takes any arguments. */
export function toolNamed(name: string, handler: (args: object, options: CallContext) => unknown, more = {}) {
  return defineTool({
    name,
    description: `Does ${name}`,
    schema: { type: 'object' },
    ...more,
    handler,
  }) as Tool
}

export function executorOf(...tools: Tool[]): ToolExecutor {
  const manager = new ToolManager()
  for (const tool of tools) manager.addCustomTool(tool)
  return new ToolExecutor(manager)
}

/** The headers of someone with this token. */
export const as = (token: string) => ({ authorization: `Bearer ${token}` })
export const PATIENCE = { interval: 10, timeout: 15_000 }

export const echoTool = defineTool({
  name: 'echo',
  description: 'Gives back its arguments',
  schema: { type: 'object' },
  readOnly: true,
  handler: args => ({ echo: args }),
})

export interface TestGateway extends Gateway {
  tools: ToolManager
  executor: ToolExecutor
  /** As the owner, unless the headers say otherwise. */
  get(path: string, headers?: Record<string, string>): Promise<Response>
  /** Without a token. */
  getOpenly(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, body?: unknown, init?: RequestInit): Promise<Response>
  [Symbol.asyncDispose](): Promise<void>
}

/** A gateway without a port. */
export function testGateway(
  tools: readonly Tool[] = [echoTool],
  options: Partial<GatewayOptions> = {},
): TestGateway {
  const executor = options.executor ?? executorOf(...tools)
  const token = options.clients || options.oauth || options.project?.config?.clients ? OWNER_TOKEN : false
  const gateway = createGateway({ executor, token, ...options })
  return {
    ...gateway,
    tools: executor.tools,
    executor,
    get: async (path, headers = {}) =>
      gateway.fetch(new Request(ADDRESS + path, { headers: { ...OWNER, ...headers } })),
    getOpenly: async (path, headers = {}) => gateway.fetch(new Request(ADDRESS + path, { headers })),
    post: async (path, body, init = {}) => {
      const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
      return gateway.fetch(
        new Request(ADDRESS + path, {
          method: 'POST',
          ...(text !== undefined && { body: text }),
          ...init,
          headers: { ...OWNER, ...(init.headers as Record<string, string>) },
        }),
      )
    },
    [Symbol.asyncDispose]: () => gateway.close({ drainMs: 0 }),
  }
}

/** The JSON of a response. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
export async function dataOf(response: Response | Promise<Response>): Promise<any> {
  return (await response).json()
}

/** A request of the newest MCP protocol, by hand. */
export function newestRequest(method: string, params: Record<string, unknown> = {}, capabilities = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const name = params.taskId ?? params.name
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
  return { headers, body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } } }
}

/** The last message of an answer over MCP, which may be a stream. */
export async function messageIn(response: Response) {
  const text = await response.text()
  return JSON.parse(text.startsWith('{') ? text : ([...text.matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? ''))
}

export interface ReadEvent {
  type: string
  id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
  data: any
}

/** Reads the events of a response, one after the other. */
export function eventReader(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  const next = async (): Promise<ReadEvent | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const event = parse(block)
        if (event) return event
        continue
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      text += decoder.decode(value, { stream: true })
    }
  }
  return {
    next,
    /** The next event that fits. */
    async until(fits: (event: ReadEvent) => boolean): Promise<ReadEvent> {
      for (;;) {
        const event = await next()
        if (!event) throw new Error('The stream ended')
        if (fits(event)) return event
      }
    },
    async all(): Promise<ReadEvent[]> {
      const events: ReadEvent[] = []
      for (let event = await next(); event; event = await next()) events.push(event)
      return events
    },
    cancel: () => reader.cancel(),
  }
}

function parse(block: string): ReadEvent | undefined {
  const fields = new Map(
    block
      .split('\n')
      .filter(line => !line.startsWith(':'))
      .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
  )
  const type = fields.get('event')
  return type === undefined
    ? undefined
    : { type, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? '') }
}
