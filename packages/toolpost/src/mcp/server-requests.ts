import { pathToFileURL } from 'node:url'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { isSecretKey, withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { answerProblem, type Question, type Requester, type Sample } from '../tools/caller.ts'
import { isRecord } from '../util/guards.ts'
import type { RequestOptions } from './connection.ts'
import { MAX_SERVER_REQUESTS } from './limits.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from './peer.ts'
import { isHttpUrl, type ServerEntry } from './server-entry.ts'
import { TASKS_EXTENSION } from './tasks.ts'

export interface ServerRequestsOptions {
  server: string
  entry: ServerEntry
  /** Toolpost's own model, for servers that may use it. */
  sample?: Sample | undefined
  /** Called with what was asked and why it was refused. */
  onRefused(reason: string): void
}

type Params = Readonly<Record<string, unknown>>
type Answer = Promise<Record<string, unknown>>

/** JSON-RPC code of a call that requires URLs to be visited first. */
export const URL_REQUIRED = -32_042
/** The longest question of a server that is shown to the user. */
const MAX_QUESTION_CHARACTERS = 10_000
/** How many URLs one rejected call may ask to be visited, and how many visits are tracked until they are completed. */
const MAX_ADDRESSES = 5
const MAX_WATCHED_ADDRESSES = 1_000

/** Answers a server's own requests: elicitation, sampling and roots. */
export class ServerRequests {
  /** Only what can be answered. */
  readonly capabilities: ClientCapabilities
  readonly methods: readonly string[]
  readonly #options: ServerRequestsOptions
  /** By elicitation id, what to call when the visit to a URL is completed. Oldest first. */
  readonly #watched = new Map<string, () => void>()
  #open = 0

  constructor(options: ServerRequestsOptions) {
    const { sampling, roots } = options.entry
    this.#options = options
    this.capabilities = {
      elicitation: { form: {}, url: {} },
      extensions: { [TASKS_EXTENSION]: {} },
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: {} }),
    }
    this.methods = [
      'elicitation/create',
      ...(sampling ? ['sampling/createMessage'] : []),
      ...(roots ? ['roots/list'] : []),
    ]
  }

  /** Rejects with the error to send to the server. */
  async answer(method: string, params: Params, options: RequestOptions): Answer {
    if (this.#open >= MAX_SERVER_REQUESTS) throw new RpcError('Too many requests at once', { code: -32_000 })
    this.#open++
    try {
      if (method === 'elicitation/create') return await this.#elicit(params, options)
      if (method === 'sampling/createMessage') return await this.#sample(params, options)
      if (method === 'roots/list') return await this.#roots(options)
      throw new RpcError(`Method not found: ${safeText(method, 100)}`, { code: METHOD_NOT_FOUND })
    } finally {
      this.#open--
    }
  }

  /** The server reports that an out-of-band interaction is complete. */
  completed({ elicitationId }: Params): void {
    const id = String(elicitationId)
    this.#watched.get(id)?.()
    this.#watched.delete(id)
  }

  /**
   * For a call refused until URLs have been visited (-32042): passes them to the caller. Resolves to an error that says what
   * was done and what to do next; any other error is returned unchanged.
   */
  async afterVisits(error: unknown, from: Requester): Promise<unknown> {
    if (!(error instanceof RpcError) || error.rpcCode !== URL_REQUIRED) return error
    const given =
      isRecord(error.data) && Array.isArray(error.data.elicitations) ? error.data.elicitations : []
    const questions = given
      .slice(0, MAX_ADDRESSES)
      .filter(each => isRecord(each) && typeof each.url === 'string' && isHttpUrl(each.url))
      .map(each => this.#address(each))
    if (questions.length === 0) return error
    const wanted = questions.map(({ message, url }) => `${safeText(message, 500)} (${url})`).join('; ')
    const first = `Open this page first, then call again: ${wanted}`
    const next = new RpcError(`${first}. Open the address, then call again`)
    if (from.onAddresses) from.onAddresses(questions)
    if (from.onAddresses || !from.ask) return next
    for (const question of questions) {
      const { action, reason } = await from.ask(question)
      if (action === 'accept') continue
      // If there is a reason, nobody was asked.
      return reason ? next : new RpcError(`${first}. The user declined, so the call was not made`)
    }
    return new RpcError(`${first}. The page was opened; call again once you are done there`)
  }

  #address({ message, url, elicitationId }: Params): Question {
    const completed = typeof elicitationId === 'string' ? this.#completion(elicitationId) : undefined
    return { message: String(message ?? ''), server: this.#options.server, url: String(url), completed }
  }

  #completion(id: string): Promise<void> {
    const [oldest] = this.#watched.keys()
    if (oldest !== undefined && this.#watched.size >= MAX_WATCHED_ADDRESSES) this.#watched.delete(oldest)
    return new Promise(resolve => this.#watched.set(id, resolve))
  }

  async #elicit(params: Params, { from, signal, key }: RequestOptions): Answer {
    const { server, onRefused } = this.#options
    const { requestedSchema: schema, url } = params
    const isUrl = params.mode === 'url'
    const message = typeof params.message === 'string' ? params.message : ''
    if (!from?.ask) {
      onRefused(
        `The server asked a question, but this caller cannot answer prompts: ${safeText(message, 200)}`,
      )
      return { action: 'decline' }
    }
    if (message.length > MAX_QUESTION_CHARACTERS)
      throw invalid(`the message is longer than ${MAX_QUESTION_CHARACTERS} characters`)
    if (isUrl && !(typeof url === 'string' && isHttpUrl(url)))
      throw invalid('the URL must be http: or https:')
    const problem = !isUrl && isRecord(schema) ? sizeProblem(schema) : undefined
    if (problem) throw invalid(`the schema is too large: ${problem}`)
    const text = withoutKnownSecretsIn(message)
    const question = isUrl
      ? this.#address({ ...params, message: text })
      : { message: text, server, ...formOf(schema) }
    const { action, content, reason } = await from.ask({ ...question, key, ...(signal && { signal }) })
    if (reason !== undefined) onRefused(`The server asked a question, but it was declined: ${reason}`)
    return { action, ...(action === 'accept' && !isUrl && { content: content ?? {} }) }
  }

  /** The roots of the configuration, or else of the client that made the call. */
  async #roots({ from, signal, key }: RequestOptions): Answer {
    const { roots } = this.#options.entry
    if (!roots && from?.roots) return from.roots({ signal, key })
    const uris = (roots ?? []).map(root => {
      const { uri, name } = typeof root === 'string' ? { uri: root, name: undefined } : root
      const isUri = /^[a-z][a-z0-9+.-]+:/i.test(uri)
      return { uri: isUri ? uri : pathToFileURL(uri).href, ...(name !== undefined && { name }) }
    })
    return { roots: uris }
  }

  async #sample(params: Params, { from, signal, key }: RequestOptions): Answer {
    const { server, entry, onRefused, sample: own } = this.#options
    const options = { server, signal, from, key }
    if (entry.sampling && from?.sample) return from.sample(params, options)
    if (!entry.sampling || !own) {
      onRefused('The server asked for sampling, but no model is available')
      throw new RpcError('No model is available for sampling', { code: -1 })
    }
    return from?.hold ? from.hold(() => own(params, options)) : own(params, options)
  }
}

function invalid(problem: string): RpcError {
  return new RpcError(`Invalid params: ${problem}`, { code: INVALID_PARAMS })
}

function formOf(requested: unknown): Pick<Question, 'schema' | 'check' | 'secretFields'> {
  const schema: JsonSchema = isRecord(requested) ? requested : { type: 'object', properties: {} }
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const isSecret = ([name, field]: [string, unknown]) =>
    isSecretKey(name) || (isRecord(field) && typeof field.title === 'string' && isSecretKey(field.title))
  return {
    schema,
    check: (content, field) => {
      if (field === undefined) return answerProblem(schema, content)
      const wanted = Object.hasOwn(properties, field) ? properties[field] : {}
      return answerProblem({ type: 'object', properties: { [field]: wanted } }, content)
    },
    secretFields: Object.entries(properties)
      .filter(isSecret)
      .map(([name]) => name),
  }
}

/** Answers all questions in parallel, each under its key; one that cannot be answered aborts the others. */
export async function answersTo(
  inputRequests: unknown,
  { requests, from, signal }: RequestOptions & { requests: ServerRequests },
): Promise<Record<string, unknown>> {
  const entries = isRecord(inputRequests) ? Object.entries(inputRequests) : []
  if (entries.length > MAX_SERVER_REQUESTS)
    throw new Error(`The server asked for more than ${MAX_SERVER_REQUESTS} inputs at once`)
  const open = new AbortController()
  const either = signal ? AbortSignal.any([signal, open.signal]) : open.signal
  const answer = async ([key, request]: [string, unknown]) => {
    const { method, params } = isRecord(request) ? request : {}
    const options = { from, signal: either, key }
    return [key, await requests.answer(String(method), isRecord(params) ? params : {}, options)]
  }
  try {
    return Object.fromEntries(await Promise.all(entries.map(answer)))
  } catch (error) {
    open.abort()
    throw error
  }
}
