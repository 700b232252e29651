import { pathToFileURL } from 'node:url'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { isSecretKey, withoutKnownSecretsIn } from '../logging/redact.ts'
import { safeText } from '../logging/safe-value.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { sizeProblem } from '../schema/limits.ts'
import { type AskedBy, answerProblem, type Question, type Requester, type Sample } from '../tools/caller.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { MAX_SERVER_REQUESTS } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Method, type Params, RpcError } from './peer.ts'
import { isHttpUrl } from './server-entry.ts'
import { TASKS_EXTENSION } from './tasks.ts'

type Answer = Promise<Record<string, unknown>>

interface AskOptions extends AskedBy {
  from?: Requester | undefined
}

const MAX_QUESTION_CHARACTERS = 10_000

/** Answers a server's own requests: elicitation, sampling and roots. */
export class ServerRequests {
  readonly capabilities: ClientCapabilities
  readonly #server: McpServer
  readonly #sample: Sample | undefined
  readonly #table: Record<string, (params: Params, options: AskOptions) => Answer> = {
    'elicitation/create': (params, options) => this.#elicit(params, options),
    'sampling/createMessage': (params, options) => this.#createMessage(params, options),
    'roots/list': (_, options) => this.#listRoots(options),
  }
  #open = 0

  /** `sample` is Toolpost's own model, for servers that may use it. */
  constructor(server: McpServer, sample: Sample | undefined) {
    const { sampling, roots } = server.entry
    this.#server = server
    this.#sample = sample
    this.capabilities = {
      elicitation: { form: {}, url: {} },
      extensions: { [TASKS_EXTENSION]: {} },
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: {} }),
    }
  }

  /** For requests of their own, which say nothing about the caller they are for. */
  methods(from: () => Requester | undefined): Record<string, Method> {
    const known = Object.keys(this.#table).filter(name => (name.split('/')[0] ?? '') in this.capabilities)
    const answer: Method = (params, { method, signal }) =>
      this.#answer(method, params, { signal, from: from() })
    return Object.fromEntries(known.map(name => [name, answer]))
  }

  async #answer(method: string, params: Params, options: AskOptions): Answer {
    if (this.#open >= MAX_SERVER_REQUESTS)
      throw new RpcError(`The server asked for more than ${MAX_SERVER_REQUESTS} inputs at once`)
    const known = ownValue(this.#table, method)
    if (!known) throw new RpcError(`Method not found: ${safeText(method, 100)}`, { code: METHOD_NOT_FOUND })
    this.#open++
    return known(params, options).finally(() => this.#open--)
  }

  /** Answers all questions in parallel, each under its key; one that cannot be answered aborts the others. */
  async answerAll(inputRequests: unknown, { from, signal }: AskOptions): Answer {
    const open = new AbortController()
    const either = signal ? AbortSignal.any([signal, open.signal]) : open.signal
    const answer = async ([key, request]: [string, unknown]) => {
      const { method, params } = isRecord(request) ? request : {}
      const options = { from, signal: either, key }
      return [key, await this.#answer(String(method), isRecord(params) ? params : {}, options)]
    }
    const entries = Object.entries(isRecord(inputRequests) ? inputRequests : {})
    return Promise.all(entries.map(answer))
      .then(answers => Object.fromEntries(answers))
      .finally(() => open.abort())
  }

  async #elicit(params: Params, { from, signal, key }: AskOptions): Answer {
    const server = this.#server
    const { requestedSchema: schema, url } = params
    const isUrl = params.mode === 'url'
    const message = typeof params.message === 'string' ? params.message : ''
    if (!from?.ask) {
      const shown = safeText(message, 200)
      server.problem(`The server asked a question, but this caller cannot answer prompts: ${shown}`)
      return { action: 'decline' }
    }
    const tooLarge = !isUrl && isRecord(schema) ? sizeProblem(schema) : undefined
    const problem =
      (message.length > MAX_QUESTION_CHARACTERS && 'the message is too long') ||
      (isUrl && !(typeof url === 'string' && isHttpUrl(url)) && 'the URL must be http: or https:') ||
      (tooLarge && `the schema is too large: ${tooLarge}`)
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
  async #listRoots({ from, signal, key }: AskOptions): Answer {
    const { roots } = this.#server.entry
    if (!roots && from?.roots) return from.roots({ signal, key })
    const uris = (roots ?? []).map(root => {
      const { uri, ...rest } = typeof root === 'string' ? { uri: root } : root
      return { uri: /^[a-z][a-z0-9+.-]+:/i.test(uri) ? uri : pathToFileURL(uri).href, ...rest }
    })
    return { roots: uris }
  }

  async #createMessage(params: Params, { from, signal, key }: AskOptions): Answer {
    const { name: server, entry } = this.#server
    const own = this.#sample
    const options = { server, signal, from, key }
    if (entry.sampling && from?.sample) return from.sample(params, options)
    if (!entry.sampling || !own) {
      this.#server.problem('The server asked for sampling, but no model is available')
      throw new RpcError('No model is available for sampling', { code: -1 })
    }
    return from?.hold ? from.hold(() => own(params, options)) : own(params, options)
  }
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
