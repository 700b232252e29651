import { pathToFileURL } from 'node:url'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { isSecretKey, withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import {
  type Ask,
  answerProblem,
  type Question,
  type QuestionAnswer,
  type Requester,
  type Sample,
} from '../tools/caller.ts'
import type { RequestOptions } from './connection.ts'
import {
  MAX_ADDRESSES,
  MAX_QUESTION_CHARACTERS,
  MAX_SERVER_REQUESTS,
  MAX_WATCHED_ADDRESSES,
} from './limits.ts'
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

/** JSON-RPC code of a call that requires URLs to be visited first. */
export const URL_REQUIRED = -32_042

/** Answers a server's own requests: elicitation, sampling and roots. */
export class ServerRequests {
  readonly #options: ServerRequestsOptions
  /** By elicitation id, what to call when the visit to a URL is completed. Oldest first. */
  readonly #watched = new Map<string, () => void>()
  #open = 0

  constructor(options: ServerRequestsOptions) {
    this.#options = options
  }

  /** Only what can be answered. */
  get capabilities(): ClientCapabilities {
    const { sampling, roots } = this.#options.entry
    return {
      elicitation: { form: {}, url: {} },
      extensions: { [TASKS_EXTENSION]: {} },
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: {} }),
    }
  }

  get methods(): ('elicitation/create' | 'sampling/createMessage' | 'roots/list')[] {
    const { sampling, roots } = this.#options.entry
    return [
      'elicitation/create',
      ...(sampling ? (['sampling/createMessage'] as const) : []),
      ...(roots ? (['roots/list'] as const) : []),
    ]
  }

  /** Rejects with the error to send to the server. */
  async answer(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<Record<string, unknown>> {
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
  completed({ elicitationId }: Readonly<Record<string, unknown>>): void {
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
    const questions = this.#addressesIn(error.data)
    if (questions.length === 0) return error
    const wanted = questions.map(({ message, url }) => `${safeText(message, 500)} (${url})`).join('; ')
    const first = `Open this page first, then call again: ${wanted}`
    if (from.onAddresses) from.onAddresses(questions)
    else if (from.ask) {
      const answer = await askEach(questions, from.ask)
      if (answer.action === 'accept')
        return new RpcError(`${first}. The page was opened; call again once you are done there`)
      // If there is a reason, nobody was asked.
      if (answer.reason === undefined)
        return new RpcError(`${first}. The user declined, so the call was not made`)
    }
    return new RpcError(`${first}. Open the address, then call again`)
  }

  #addressesIn(data: unknown): Question[] {
    const given = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations : []
    return given
      .slice(0, MAX_ADDRESSES)
      .filter(isRecord)
      .filter(({ url }) => typeof url === 'string' && isHttpUrl(url))
      .map(each => this.#address(each))
  }

  #address({ message, url, elicitationId }: Record<string, unknown>): Question {
    const completed = typeof elicitationId === 'string' ? this.#completion(elicitationId) : undefined
    return { message: String(message ?? ''), server: this.#options.server, url: String(url), completed }
  }

  #completion(id: string): Promise<void> {
    const [oldest] = this.#watched.keys()
    if (oldest !== undefined && this.#watched.size >= MAX_WATCHED_ADDRESSES) this.#watched.delete(oldest)
    return new Promise(resolve => this.#watched.set(id, resolve))
  }

  async #elicit(
    params: Record<string, unknown>,
    { from, signal, key }: RequestOptions,
  ): Promise<Record<string, unknown>> {
    const { server, onRefused } = this.#options
    const { message, requestedSchema, url, mode } = params
    const text = typeof message === 'string' ? message : ''
    if (!from?.ask) {
      onRefused(`The server asked a question, but this caller cannot answer prompts: ${safeText(text, 200)}`)
      return { action: 'decline' }
    }
    const problem = problemOf(text, mode === 'url' ? url : requestedSchema, mode === 'url')
    if (problem) throw new RpcError(`Invalid params: ${problem}`, { code: INVALID_PARAMS })
    const question =
      mode === 'url'
        ? this.#address({ ...params, message: withoutKnownSecretsIn(text) })
        : { message: withoutKnownSecretsIn(text), server, ...formOf(requestedSchema) }
    const { action, content, reason } = await from.ask({ ...question, key, ...(signal && { signal }) })
    if (reason !== undefined) onRefused(`The server asked a question, but it was declined: ${reason}`)
    return { action, ...(action === 'accept' && mode !== 'url' && { content: content ?? {} }) }
  }

  /** The roots of the configuration, or else of the client that made the call. */
  async #roots({ from, signal, key }: RequestOptions): Promise<Record<string, unknown>> {
    const { entry } = this.#options
    return entry.roots || !from?.roots ? { roots: rootsOf(entry) } : from.roots({ signal, key })
  }

  async #sample(
    params: Record<string, unknown>,
    { from, signal, key }: RequestOptions,
  ): Promise<Record<string, unknown>> {
    const { server, entry, onRefused, sample: own } = this.#options
    if (!entry.sampling || !(from?.sample ?? own)) {
      onRefused('The server asked for sampling, but no model is available')
      throw new RpcError('No model is available for sampling', { code: -1 })
    }
    const options = { server, signal, from, key }
    if (from?.sample) return from.sample(params, options)
    const write = () => (own as Sample)(params, options)
    return from?.hold ? from.hold(write) : write()
  }
}

/** The first answer other than `accept`, else `accept`. */
async function askEach(questions: readonly Question[], ask: Ask): Promise<QuestionAnswer> {
  for (const question of questions) {
    const answer = await ask(question)
    if (answer.action !== 'accept') return answer
  }
  return { action: 'accept' }
}

function formOf(requested: unknown): Pick<Question, 'schema' | 'check' | 'secretFields'> {
  const schema: JsonSchema = isRecord(requested) ? requested : { type: 'object', properties: {} }
  const fields = Object.entries(isRecord(schema.properties) ? schema.properties : {})
  const isSecret = (name: string, field: unknown) =>
    isSecretKey(name) || (isRecord(field) && typeof field.title === 'string' && isSecretKey(field.title))
  return {
    schema,
    check: (content, field) => answerProblem(field === undefined ? schema : only(field, schema), content),
    secretFields: fields.filter(([name, field]) => isSecret(name, field)).map(([name]) => name),
  }
}

function only(field: string, { properties }: JsonSchema): JsonSchema {
  const wanted = isRecord(properties) && Object.hasOwn(properties, field) ? properties[field] : {}
  return { type: 'object', properties: { [field]: wanted } }
}

/** Why a question cannot be shown. */
function problemOf(message: string, what: unknown, isUrl: boolean): string | undefined {
  if (message.length > MAX_QUESTION_CHARACTERS)
    return `the message is longer than ${MAX_QUESTION_CHARACTERS} characters`
  if (isUrl)
    return typeof what === 'string' && isHttpUrl(what) ? undefined : 'the URL must be http: or https:'
  const problem = isRecord(what) ? sizeProblem(what) : undefined
  return problem && `the schema is too large: ${problem}`
}

/** The folders and files of the configuration, in MCP's format. */
function rootsOf({ roots = [] }: ServerEntry): { uri: string; name?: string }[] {
  return roots.map(root => {
    const { uri, name } = typeof root === 'string' ? { uri: root, name: undefined } : root
    const isUri = /^[a-z][a-z0-9+.-]+:/i.test(uri)
    return { uri: isUri ? uri : pathToFileURL(uri).href, ...(name !== undefined && { name }) }
  })
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
    const text = typeof method === 'string' ? method : ''
    return [key, await requests.answer(text, isRecord(params) ? params : {}, { from, signal: either, key })]
  }
  try {
    return Object.fromEntries(await Promise.all(entries.map(answer)))
  } catch (error) {
    open.abort()
    throw error
  }
}
