import {
  type CompleteResult,
  type GetPromptResult,
  isSpecType,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { safeText } from '../../logging/safe-value.ts'
import type { Catalog } from '../../mcp/catalog.ts'
import type { CatalogList } from '../../mcp/index.ts'
import { charactersOf } from '../../mcp/tool-definition.ts'
import { inSlices } from '../../runtime/slices.ts'
import { HANDLE_PREFIX } from '../../tools/results/result-store.ts'
import type { Client } from '../client.ts'
import { MAX_LISTED, MAX_MCP_ANSWER } from '../limits.ts'
import { fits } from './answer-size.ts'
import type { Work } from './client-call.ts'

export interface OffersOptions {
  catalog: Catalog
  client(): Client | undefined
  /** Waits for the servers, for as long as it sees fit. */
  whenListed?: (() => Promise<void>) | undefined
  /** Reads a kept result. */
  readKept(uri: string, context: ServerContext): Promise<ReadResourceResult>
  /** Runs work for a request that may need the client's help. */
  withHelp<Result>(
    context: ServerContext,
    about: object,
    work: Work<Result>,
    mayBeTask?: boolean,
  ): Promise<Result>
}

const TYPES = { resources: 'Resource', templates: 'ResourceTemplate', prompts: 'Prompt' } as const

/** Passes on the resources and prompts of the MCP servers. */
export function offerCatalog(server: Server, options: OffersOptions): void {
  const { catalog, client, whenListed, withHelp, readKept } = options
  const list = async (kind: keyof typeof TYPES): Promise<CatalogList> => {
    await whenListed?.()
    const { entries, ...hint } = await catalog.list(kind, client()?.access(kind))
    return { ...hint, entries: await usable(kind, entries) }
  }
  server.setRequestHandler('resources/list', async () => named('resources', await list('resources')))
  server.setRequestHandler('resources/templates/list', async () =>
    named('resourceTemplates', await list('templates')),
  )
  server.setRequestHandler('prompts/list', async () => named('prompts', await list('prompts')))
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) => {
    if (uri.startsWith(HANDLE_PREFIX)) return readKept(uri, context)
    return answering(
      withHelp(context, { uri }, (from, signal) =>
        bounded(uri, catalog.read(uri, { from, signal, access: client()?.access('resources') })),
      ) as Promise<ReadResourceResult>,
    )
  })
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args } }, context) =>
    answering(
      withHelp(context, { name, args }, (from, signal) =>
        bounded(name, catalog.prompt(name, args, { from, signal, access: client()?.access('prompts') })),
      ) as Promise<GetPromptResult>,
    ),
  )
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) => {
    const access = client()?.access(params.ref.type === 'ref/prompt' ? 'prompts' : 'templates')
    const { ref, argument, context } = params
    const asked = { ref, argument, ...(context && { context }) }
    return answering(catalog.complete(asked, { signal, access }) as Promise<CompleteResult>)
  })
}

const checked = new WeakMap<object, boolean>()

/** Drops bad entries, since one makes a client reject the whole list, and whatever is too long for a message. */
async function usable(
  kind: keyof typeof TYPES,
  entries: CatalogList['entries'],
): Promise<CatalogList['entries']> {
  const good: CatalogList['entries'] = []
  let characters = 0
  await inSlices(entries, entry => {
    const isGood = checked.get(entry) ?? isSpecType[TYPES[kind]](entry)
    checked.set(entry, isGood)
    if (!isGood) return true
    characters += charactersOf(entry)
    return characters <= MAX_MCP_ANSWER.maxChars && good.push(entry) < MAX_LISTED
  })
  return good
}

async function bounded<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const result = await work
  if (await fits(result)) return result
  throw new Error(`The result of '${safeText(what, 200)}' is too large for MCP`)
}

function named(field: string, { entries, ...hint }: CatalogList): never {
  return { [field]: entries, ...hint } as never
}

/** A failure keeps the server's own message, and its code if it has one. */
export async function answering<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { message, rpcCode, data } = error as Error & { rpcCode?: number; data?: unknown }
    throw new ProtocolError(rpcCode ?? ProtocolErrorCode.InternalError, safeText(message, 2_000), data)
  }
}
