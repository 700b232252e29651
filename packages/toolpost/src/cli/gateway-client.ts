import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import type { ToolpostConfig } from '../project/config.ts'
import { digestOf, readToken, runningGateway, stateFolder } from '../project/local-state.ts'
import { isLoopback } from '../util/text.ts'
import type { Flags } from './context.ts'
import { UsageError } from './exit.ts'

const TIMEOUT_MS = 10_000

interface RequestOptions {
  /** Sent with POST. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** Without one, the answer may take as long as it likes. */
  timeoutMs?: number
}

/** The token that somebody chose, if anybody did; `false` if they chose to have none. */
export function chosenToken({ gateway }: ToolpostConfig, given?: string): string | false | undefined {
  return given ?? (process.env.TOOLPOST_TOKEN || undefined) ?? gateway?.token
}

/** Talks to a running gateway, as its owner. Node's `http`, because loading `fetch` takes longer than most calls. */
export class GatewayClient {
  readonly #url: string
  readonly #token: string | undefined

  constructor(url: string, token: string | undefined) {
    this.#url = url.replace(/\/$/, '')
    this.#token = token
  }

  /** The gateway at `--url`, or the `toolpost up` of this folder. Throws a UsageError if there is none. */
  static open(
    { config, file }: { config: ToolpostConfig; file: string | undefined },
    { url, token: given }: Pick<Flags, 'url' | 'token'>,
  ): GatewayClient {
    const own = readToken(stateFolder(file))
    const chosen = chosenToken(config, given) || undefined
    if (url !== undefined) {
      if (!/^https?:\/\//.test(url) || !URL.canParse(url))
        throw new UsageError(`--url expects an http or https URL, got '${url}'`)
      return new GatewayClient(url, chosen ?? (isLoopback(new URL(url).hostname) ? own : undefined))
    }
    const running = runningGateway(stateFolder(file))
    if (!running)
      throw new UsageError('No gateway runs in this folder: start it with `toolpost up`, or give its --url')
    const token = tokenFor(running.tokenDigest, [chosen, own])
    if (token === false)
      throw new UsageError('The gateway in this folder has another token: give it with --token')
    return new GatewayClient(running.url, token)
  }

  /** The `toolpost up` that runs this configuration, if there is one and its token is known without reading the file. */
  static running(config = 'toolpost.json'): GatewayClient | undefined {
    const file = resolve(config)
    const running = runningGateway(stateFolder(file))
    if (!running || running.config !== file) return undefined
    const token = tokenFor(running.tokenDigest, [process.env.TOOLPOST_TOKEN, readToken(stateFolder(file))])
    return token === false ? undefined : new GatewayClient(running.url, token)
  }

  /** GET, or POST with a body. Rejects with a UsageError that says what is wrong. */
  async ask<T>(path: string, given?: object): Promise<T> {
    const { status, body } = await this.request(path, { body: given, timeoutMs: TIMEOUT_MS })
    if (status >= 200 && status < 300) return body as T
    throw new UsageError((body as { error?: string } | undefined)?.error ?? `${this.#url} answered ${status}`)
  }

  /** The status, and the body if it is JSON. */
  async request(path: string, options: RequestOptions): Promise<{ status: number; body: unknown }> {
    const response = await this.#send(path, options)
    let text = ''
    for await (const chunk of response) text += chunk
    const isJson = response.headers['content-type']?.includes('json') === true
    return { status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : undefined }
  }

  /** The events of a stream. Rejects with a UsageError if the answer is none. */
  async *events(path: string, options: RequestOptions): AsyncGenerator<{ type: string; data: unknown }> {
    const response = await this.#send(path, options)
    if (response.statusCode !== 200) throw new UsageError(`${this.#url} answered ${response.statusCode}`)
    let text = ''
    for await (const chunk of response) {
      const parts = (text + chunk).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, type] = /^event: ?(.*)$/m.exec(part) ?? []
        const [, data = ''] = /^data: ?(.*)$/m.exec(part) ?? []
        if (type !== undefined) yield { type, data: JSON.parse(data) }
      }
    }
  }

  async #send(path: string, { body, headers, signal, timeoutMs }: RequestOptions): Promise<IncomingMessage> {
    const url = new URL(`${this.#url}${path}`)
    const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
    const type = body !== undefined && { 'content-type': 'application/json' }
    const token = this.#token !== undefined && { authorization: `Bearer ${this.#token}` }
    const method = body === undefined ? 'GET' : 'POST'
    const options = { method, signal, timeout: timeoutMs, headers: { ...type, ...token, ...headers } }
    return new Promise((done, reject) => {
      const outgoing = request(url, options, response => done(response.setEncoding('utf8')))
      outgoing.once('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.once('error', cause => {
        const problem = `No gateway at ${this.#url}: start it with \`toolpost up\`, or give its address with --url`
        reject(signal?.aborted ? cause : new UsageError(problem, { cause }))
      })
      outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
}

/** A token is sent only to the gateway that it belongs to: the note may come from somebody else. `false` if none does. */
function tokenFor(digest: string | undefined, known: (string | undefined)[]): string | false | undefined {
  return digest ? (known.find(token => token && digestOf(token) === digest) ?? false) : undefined
}
