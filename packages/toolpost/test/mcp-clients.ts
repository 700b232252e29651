import { join } from 'node:path'
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { packageRoot } from '../src/util/package-root.ts'

/** Where the gateway is: an address, or a configuration that is served over stdio. */
export type Target = { url: string } | { config: string }

interface ClientOptions {
  token?: string
  name?: string
  /** Answers questions; without one, the client cannot show any. */
  // biome-ignore lint/suspicious/noExplicitAny: as it came over the wire
  person?: (params: any) => unknown
  /** Writes messages for servers. */
  // biome-ignore lint/suspicious/noExplicitAny: as it came over the wire
  model?: (params: any) => unknown
}

// biome-ignore lint/suspicious/noExplicitAny: two SDKs have two types for the same
type Any = any

interface CallOptions {
  signal?: AbortSignal
  onprogress?: (progress: { progress: number }) => void
}

/** What tests need of a client, whichever SDK and protocol it has. */
export interface AnyClient extends AsyncDisposable {
  /** What came unasked: list changes by kind, updated resources, log messages. */
  readonly changes: string[]
  readonly updates: string[]
  readonly logs: Any[]
  readonly instructions: string | undefined
  readonly protocol: string | undefined
  tools(): Promise<Any[]>
  resources(): Promise<Any[]>
  templates(): Promise<Any[]>
  prompts(): Promise<Any[]>
  read(uri: string): Promise<Any>
  prompt(name: string, args?: Record<string, string>): Promise<Any>
  complete(ref: object, name: string, value: string): Promise<string[]>
  call(name: string, args?: object, options?: CallOptions): Promise<Any>
  /** Resolves to a function that ends it. */
  follow(uri: string): Promise<() => Promise<unknown>>
  /** Only the 2025 protocols have it. */
  setLevel(level: string): Promise<unknown>
}

export type Connect = (target: Target, options?: ClientOptions) => Promise<AnyClient>

const COMMAND = join(packageRoot(), 'bin', 'toolpost.cjs')
const served = (config: string) => ({
  command: process.execPath,
  args: [COMMAND, 'serve', '--stdio', '--config', config],
  stderr: 'ignore' as const,
})

function capabilitiesOf({ person, model }: ClientOptions): object {
  return { ...(person && { elicitation: { form: {}, url: {} } }), ...(model && { sampling: {} }) }
}

function headersOf({ token }: ClientOptions): { requestInit?: RequestInit } {
  return token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } }
}

function heard() {
  const changes: string[] = []
  const updates: string[] = []
  const logs: Any[] = []
  const notice = async ({ method, params }: { method: string; params?: Any }) => {
    const kind = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1]
    if (kind) changes.push(kind)
    if (method === 'notifications/resources/updated') updates.push(params.uri)
    if (method === 'notifications/message') logs.push(params)
  }
  return { changes, updates, logs, notice }
}

function sameInBoth(
  client: ClientV1 | ClientV2,
): Omit<AnyClient, keyof ReturnType<typeof heard> | 'protocol' | 'call' | 'follow'> {
  return {
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    prompts: async () => (await client.listPrompts()).prompts,
    read: uri => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
    complete: async (ref, name, value) =>
      (await client.complete({ ref: ref as never, argument: { name, value } })).completion.values,
    setLevel: level => client.setLoggingLevel(level as never),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export const connectV1: Connect = async (target, options = {}) => {
  const info = { name: options.name ?? 'test', version: '1' }
  const client = new ClientV1(info, { capabilities: capabilitiesOf(options) })
  const { notice, ...told } = heard()
  client.fallbackNotificationHandler = notice as never
  const { person, model } = options
  if (person) client.setRequestHandler(ElicitRequestSchema, ({ params }) => person(params) as never)
  if (model) client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => model(params) as never)
  const transport =
    'url' in target
      ? new HttpV1(new URL(`${target.url}mcp`), headersOf(options) as never)
      : new StdioV1(served(target.config))
  await client.connect(transport as never)
  return {
    ...told,
    ...sameInBoth(client),
    protocol: (transport as { protocolVersion?: string }).protocolVersion,
    call: (name, args = {}, given = {}) =>
      client.callTool({ name, arguments: args as never }, CallToolResultSchema, given),
    follow: async uri => {
      await client.subscribeResource({ uri })
      return () => client.unsubscribeResource({ uri })
    },
  }
}

function connectV2(mode: 'legacy' | 'auto'): Connect {
  return async (target, options = {}) => {
    const info = { name: options.name ?? 'test', version: '1' }
    const client = new ClientV2(info, {
      versionNegotiation: { mode },
      capabilities: capabilitiesOf(options),
    })
    const { notice, ...told } = heard()
    client.fallbackNotificationHandler = notice as never
    const { person, model } = options
    if (person) client.setRequestHandler('elicitation/create', ({ params }) => person(params) as never)
    if (model) client.setRequestHandler('sampling/createMessage', ({ params }) => model(params) as never)
    const transport: Transport =
      'url' in target
        ? new HttpV2(new URL(`${target.url}mcp`), headersOf(options))
        : new StdioV2(served(target.config))
    await client.connect(transport)
    const isModern = client.getProtocolEra() === 'modern'
    const all = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true }
    if (isModern) await client.listen(all)
    return {
      ...told,
      ...sameInBoth(client),
      protocol: client.getNegotiatedProtocolVersion(),
      call: (name, args = {}, given = {}) => client.callTool({ name, arguments: args as never }, given),
      follow: async uri => {
        if (isModern) {
          const subscription = await client.listen({ resourceSubscriptions: [uri] })
          return () => subscription.close()
        }
        await client.subscribeResource({ uri })
        return () => client.unsubscribeResource({ uri })
      },
    }
  }
}

export const CLIENTS: [string, Connect][] = [
  ['SDK v1', connectV1],
  ['SDK v2, 2025 protocol', connectV2('legacy')],
  ['SDK v2, newest protocol', connectV2('auto')],
]
