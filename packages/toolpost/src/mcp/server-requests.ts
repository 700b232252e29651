import { pathToFileURL } from 'node:url'
import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { safeText } from '../logging/safe-value.ts'
import { isRecord } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Sample } from '../tools/caller.ts'
import { MAX_SERVER_REQUESTS } from './limits.ts'
import { isHttpUrl, type ServerEntry } from './server-entry.ts'
import type { LinkRequestOptions } from './server-link.ts'
import { ServerTasks } from './server-tasks.ts'
import { TASKS_EXTENSION } from './task-state.ts'

export interface ServerRequestsOptions {
  server: string
  entry: ServerEntry
  /** The program's own model, for servers that may use it. */
  sample?: Sample | undefined
  /** Told what was asked and why it was not granted. */
  onRefused(reason: string): void
}

/** Carries the JSON-RPC code that the server reads. */
class RefusedError extends Error {
  readonly code: number

  constructor(message: string, code = -1) {
    super(message)
    this.code = code
  }
}

const NOBODY = 'there is nobody to ask'

/** Answers what a server asks: of a person, of a model, and where it may work. */
export class ServerRequests {
  readonly #options: ServerRequestsOptions
  /** The tasks that calls wait for: a question about one is for whoever made that call. */
  readonly tasks = new ServerTasks()
  #open = 0

  constructor(options: ServerRequestsOptions) {
    this.#options = options
  }

  /** Exactly what is answered. */
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

  /** Rejects with what the server shall read. */
  async answer(
    method: string,
    params: Record<string, unknown>,
    given: LinkRequestOptions,
  ): Promise<Record<string, unknown>> {
    const options = { ...given, from: this.tasks.requesterOf(params) ?? given.from }
    if (this.#open >= MAX_SERVER_REQUESTS) throw new RefusedError('Too many requests at once', -32_000)
    this.#open++
    try {
      if (method === 'elicitation/create') return await this.#elicit(params, options)
      if (method === 'sampling/createMessage') return await this.#sample(params, options)
      if (method === 'roots/list') return { roots: rootsOf(this.#options.entry) }
      throw new RefusedError(`Method not found: ${safeText(method, 100)}`, -32_601)
    } finally {
      this.#open--
    }
  }

  async #elicit(
    params: Record<string, unknown>,
    { from, signal }: LinkRequestOptions,
  ): Promise<Record<string, unknown>> {
    const { server, onRefused } = this.#options
    const { message, requestedSchema, url, mode } = params
    if (!from?.ask) {
      onRefused(`The server asked a question and ${NOBODY}: ${safeText(String(message), 200)}`)
      return { action: 'decline' }
    }
    if (mode === 'url' && !(typeof url === 'string' && isHttpUrl(url)))
      throw new RefusedError('Invalid params: a URL that is not http: or https:', -32_602)
    const { action, content } = await from.ask({
      message: String(message ?? ''),
      server,
      ...(mode === 'url' ? { url: String(url) } : { schema: schemaOf(requestedSchema) }),
      ...(signal && { signal }),
    })
    return { action, ...(action === 'accept' && mode !== 'url' && { content: content ?? {} }) }
  }

  async #sample(
    params: Record<string, unknown>,
    { from, signal }: LinkRequestOptions,
  ): Promise<Record<string, unknown>> {
    const { server, entry, onRefused } = this.#options
    const sample = from?.sample ?? this.#options.sample
    if (!entry.sampling || !sample) {
      onRefused('The server asked for a message of a model and there is none')
      throw new RefusedError('No model is available for sampling')
    }
    return sample(params, { server, signal })
  }
}

function schemaOf(requested: unknown): JsonSchema {
  return isRecord(requested) ? requested : { type: 'object', properties: {} }
}

/** Folders and files of the configuration, as servers want them. */
function rootsOf({ roots = [] }: ServerEntry): { uri: string; name?: string }[] {
  return roots.map(root => {
    const { uri, name } = typeof root === 'string' ? { uri: root, name: undefined } : root
    const isUri = /^[a-z][a-z0-9+.-]+:/i.test(uri)
    return { uri: isUri ? uri : pathToFileURL(uri).href, ...(name !== undefined && { name }) }
  })
}
