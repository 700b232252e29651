import { pathToFileURL } from 'node:url'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { isSecretKey, withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type AskedBy, answerProblem, isForm, type Question, type Requester } from '../tools/caller.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { MAX_SERVER_REQUESTS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, type Params, RpcError } from './peer.ts'
import { isHttpUrl, type ServerEntry } from './server-entry.ts'

interface AskOptions extends AskedBy {
  from?: Requester | undefined
}

type Answer = (server: McpServer, params: Params, options: AskOptions) => Promise<Record<string, unknown>>

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
const MAX_QUESTION_CHARACTERS = 10_000

/** A server's own requests, and the capability that lets it send each. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'elicitation/create': elicit,
  'sampling/createMessage': createMessage,
  'roots/list': listRoots,
}

/** What a server may ask for, and how it may answer. */
export function capabilitiesFor({ sampling, roots }: ServerEntry): ClientCapabilities {
  return {
    elicitation: { form: {}, url: {} },
    extensions: { [TASKS_EXTENSION]: {} },
    ...(sampling && { sampling: {} }),
    ...(roots && { roots: {} }),
  }
}

/** For requests of their own, which say nothing about the caller they are for. */
export function requestMethods(server: McpServer, from: () => Requester | undefined): Record<string, Method> {
  const capabilities = capabilitiesFor(server.entry)
  const known = Object.keys(ANSWERS).filter(name => (name.split('/')[0] ?? '') in capabilities)
  const own: Method = (params, { method, signal }) => answer(server, method, params, { signal, from: from() })
  return Object.fromEntries(known.map(name => [name, own]))
}

/** Answers all questions in parallel, each under its key; one that cannot be answered aborts the others. */
export async function answerAll(server: McpServer, inputRequests: unknown, { from, signal }: AskOptions) {
  const open = new AbortController()
  const either = AbortSignal.any([open.signal, signal ?? open.signal])
  const answers = Object.entries(isRecord(inputRequests) ? inputRequests : {}).map(async ([key, request]) => {
    const { method, params } = isRecord(request) ? request : {}
    const options = { from, signal: either, key }
    return [key, await answer(server, String(method), isRecord(params) ? params : {}, options)] as const
  })
  return Promise.all(answers)
    .then(entries => Object.fromEntries(entries))
    .finally(() => open.abort())
}

async function answer(server: McpServer, method: string, params: Params, options: AskOptions) {
  if (server.openQuestions >= MAX_SERVER_REQUESTS)
    throw new RpcError(`The server asked for more than ${MAX_SERVER_REQUESTS} inputs at once`)
  const known = ownValue(ANSWERS, method)
  if (!known) throw new RpcError(`Method not found: ${safeText(method, 100)}`, { code: METHOD_NOT_FOUND })
  server.openQuestions++
  return known(server, params, options).finally(() => server.openQuestions--)
}

async function elicit(server: McpServer, params: Params, { from, signal, key }: AskOptions) {
  const { requestedSchema: schema, url } = params
  const isUrl = params.mode === 'url'
  const message = typeof params.message === 'string' ? params.message : ''
  if (!from?.ask) {
    const shown = safeText(message, 200)
    server.problem(`The server asked a question, but this caller cannot answer prompts: ${shown}`)
    return { action: 'decline' }
  }
  const problem =
    (message.length > MAX_QUESTION_CHARACTERS && 'the message is too long') ||
    (isUrl && !(typeof url === 'string' && isHttpUrl(url)) && 'the URL must be http: or https:') ||
    (!isUrl && isRecord(schema) && !isForm(schema) && 'the form is too large')
  if (problem) throw new RpcError(`Invalid params: ${problem}`, { code: INVALID_PARAMS })
  const { action, content, reason } = await from.ask({
    message: withoutKnownSecretsIn(message),
    server: server.name,
    key,
    signal,
    ...(isUrl ? { url: String(url) } : formOf(schema)),
  })
  if (reason !== undefined) server.problem(`The server asked a question, but it was declined: ${reason}`)
  return { action, ...(action === 'accept' && !isUrl && { content: content ?? {} }) }
}

/** The roots of the configuration, or else of the client that made the call. */
async function listRoots({ entry }: McpServer, _: Params, { from, signal, key }: AskOptions) {
  if (!entry.roots && from?.roots) return from.roots({ signal, key })
  const roots = (entry.roots ?? []).map(root => {
    const { uri, ...rest } = typeof root === 'string' ? { uri: root } : root
    return { uri: /^[a-z][a-z0-9+.-]+:/i.test(uri) ? uri : pathToFileURL(uri).href, ...rest }
  })
  return { roots }
}

/** By the caller's model, or else by Toolpost's own. */
async function createMessage(server: McpServer, params: Params, { from, signal, key }: AskOptions) {
  const { name, host, entry } = server
  const { sample } = host.options
  const options = { server: name, signal, from, key }
  if (entry.sampling && from?.sample) return from.sample(params, options)
  if (!entry.sampling || !sample) {
    server.problem('The server asked for sampling, but no model is available')
    throw new RpcError('No model is available for sampling', { code: -1 })
  }
  return from?.hold ? from.hold(() => sample(params, options)) : sample(params, options)
}

function formOf(requested: unknown): Pick<Question, 'schema' | 'check' | 'secretFields'> {
  const schema: JsonSchema = isRecord(requested) ? requested : { type: 'object', properties: {} }
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const isSecret = (name: string) => {
    const field = properties[name]
    return isSecretKey(name) || (isRecord(field) && isSecretKey(String(field.title ?? '')))
  }
  return {
    schema,
    check: (content, field) => {
      if (field === undefined) return answerProblem(schema, content)
      const wanted = ownValue(properties, field) ?? {}
      return answerProblem({ type: 'object', properties: { [field]: wanted } }, content)
    },
    secretFields: Object.keys(properties).filter(isSecret),
  }
}
