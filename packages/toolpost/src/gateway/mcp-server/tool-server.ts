import { randomUUID } from 'node:crypto'
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { Catalog } from '../../mcp/catalog.ts'
import { toolpostVersion } from '../../runtime/version.ts'
import type { Client } from '../client.ts'
import { type CallToolOptions, callTool } from './call-tool.ts'
import { ClientCall, type Work } from './client-call.ts'
import { afterAnswer, type ClientSession, conversationOf, helper, isSession } from './client-help.ts'
import { capabilitiesOf, logTo } from './client-peer.ts'
import { ClientTools, Discoveries, KnownClients, type OfferSettings } from './client-tools.ts'
import { callOfRun } from './durable-call.ts'
import { followResources, whenClosed } from './followed-resources.ts'
import { readResource } from './long-answer.ts'
import { offerCatalog } from './offers.ts'
import { SuspendedCalls } from './suspended-calls.ts'
import { beginTask, offerTasks, TaskServer, taskCapabilities } from './task-methods.ts'
import { Tasks } from './tasks.ts'
import { ToolList } from './tool-list.ts'

export interface ToolServerOptions extends CallToolOptions {
  /** The resources and prompts of the servers. */
  catalog?: Catalog | undefined
  /** Waits for the tools, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /** How tools are offered; read again for every list. */
  offer?: (() => OfferSettings) | undefined
  /** Called when clients without a session should list the tools again. */
  onOfferChange?: (() => void) | undefined
}

const INFO = { name: 'toolpost', title: 'Toolpost', version: toolpostVersion() }
/** All are announced, even while there are no resources or prompts. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/**
 * Makes MCP servers that offer the executor's tools, and the resources and prompts of the MCP servers. Clients with the
 * newest protocol get one per request: it is small.
 */
export function toolServerFactory(
  options: ToolServerOptions,
): (client?: () => Client, era?: 'legacy' | 'modern') => Server {
  const list = new ToolList()
  const suspended = new SuspendedCalls()
  const tasks = new Tasks()
  const known = new KnownClients()
  const { executor, whenListed, results, catalog = new Catalog() } = options
  return (clientOf, era) => {
    const client = () => clientOf?.()
    const instructions = catalog.instructions(name => client()?.seesServer(name) ?? true)
    const capabilities = { ...CAPABILITIES, ...taskCapabilities(era === 'modern') }
    const server = new TaskServer(INFO, { capabilities, ...(instructions && { instructions }) })
    const session: ClientSession = {
      server,
      level: 'info',
      hasLevel: false,
      tasks,
      owner: () => `client ${client()?.name}`,
      id: randomUUID(),
      discoveries: new Discoveries(),
    }
    const toolsFor = (context: ServerContext): ClientTools => {
      const inSession = isSession(session, context)
      const by = client()
      const conversation = conversationOf(session, context)
      return new ClientTools({
        executor,
        results,
        settings: options.offer?.() ?? {},
        client: by,
        discoveries: inSession ? session.discoveries : known.of(`${by?.key} ${conversation}`),
        owner: { caller: by?.caller, conversation },
        onChange: () =>
          inSession ? void server.sendToolListChanged().catch(() => {}) : options.onOfferChange?.(),
      })
    }
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      if (!session.hasLevel) whenClosed(server, () => void catalog.setLogLevel(session, undefined))
      session.hasLevel = true
      session.level = level
      await catalog.setLogLevel(session, level)
      return {}
    })
    const withHelp = helper(session, suspended, client)
    server.setRequestHandler('tools/list', async (_, context) => {
      await whenListed?.()
      const isNewest = context.mcpReq.envelope !== undefined
      return { tools: await list.entries(toolsFor(context).listed(), isNewest) }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const { task } = params
      const tools = toolsFor(context)
      const meant = tools.meant({ name: params.name, args: params.arguments ?? {} })
      const { name, args } = meant.call
      const call =
        (within: ServerContext): Work<CallToolResult> =>
        (help, signal, current) => {
          const asked = { name, args, also: meant.also, help, signal, current, tools }
          const version = server.getNegotiatedProtocolVersion()
          return callTool(asked, within, { ...options, client: client(), version })
        }
      if (!task || !isSession(session, context)) return withHelp(context, { name, args }, call(context), true)
      const later = afterAnswer(session, context)
      const onLog = logTo(later.mcpReq, session.level)
      const work: Work<CallToolResult> = (help, signal) =>
        call(later)({ ...help, onLog, peer: session }, signal, () => later.mcpReq)
      return beginTask(server, tasks, { ttl: task.ttl, work })
    })
    const revive = async (id: string, context: ServerContext) => {
      const found = await callOfRun(id, client(), options.source)
      if (!found) return undefined
      const tools = toolsFor(context)
      const version = server.getNegotiatedProtocolVersion()
      const work: Work<CallToolResult> = (help, signal, current) => {
        const asked = { ...found, also: [], tools, help, signal, current }
        return callTool(asked, context, { ...options, client: client(), version })
      }
      const capabilities = capabilitiesOf(server, context.mcpReq)
      const call = new ClientCall({ owner: { client: '', about: '' }, capabilities, work, mayBeTask: true })
      call.runId = id
      return call
    }
    offerTasks(server, { ...session, revive })
    const readKept = (uri: string, context: ServerContext) =>
      readResource(uri, results, toolsFor(context).owner)
    offerCatalog(server, { catalog, client, whenListed, withHelp, readKept })
    followResources(server, catalog, client)
    return server
  }
}
