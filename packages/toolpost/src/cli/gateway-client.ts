import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import type { ToolpostConfig } from '../project/config.ts'
import { digestOf, readToken, runningGateway as runningIn, stateFolder } from '../project/local-state.ts'
import { isLoopback } from '../util/text.ts'
import type { Flags } from './context.ts'
import { UsageError } from './exit.ts'

const TIMEOUT_MS = 10_000

interface RequestOptions {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** Without one, the answer may take as long as it likes. */
  timeoutMs?: number
}

/** Nothing was sent: no gateway listens there, or it is not ready to be used. */
export class NoGateway extends UsageError {}

/** The token that somebody chose, if anybody did; `false` if they chose to have none. */
export function chosenToken({ gateway }: ToolpostConfig, given?: string): string | false | undefined {
  return given ?? (process.env.TOOLPOST_TOKEN || undefined) ?? gateway?.token
}

/** The gateway at `--url`, or the `toolpost up` of this folder. Throws a UsageError if there is none. */
export function openGateway(
  { config, file }: { config: ToolpostConfig; file: string | undefined },
  { url, token: given }: Pick<Flags, 'url' | 'token'>,
): GatewayClient {
  const own = readToken(stateFolder(file))
  const chosen = chosenToken(config, given) || undefined
  if (url !== undefined && !(/^https?:\/\//.test(url) && URL.canParse(url)))
    throw new UsageError(`--url expects an http or https URL, got '${url}'`)
  if (url !== undefined)
    return gatewayAt(url, chosen ?? (isLoopback(new URL(url).hostname) ? own : undefined))
  const running = runningIn(stateFolder(file))
  const token = tokenFor(running?.tokenDigest, [chosen, own])
  if (running && token !== false) return gatewayAt(running.url, token)
  throw running
    ? new UsageError('The gateway in this folder has another token: give it with --token')
    : new UsageError('No gateway runs in this folder: start it with `toolpost up`, or give its --url')
}

/** The `toolpost up` that runs this configuration, if there is one and its token is known without reading the file. */
export function runningGateway(config = 'toolpost.json'): GatewayClient | undefined {
  const file = resolve(config)
  const running = runningIn(stateFolder(file))
  if (!running || running.config !== file) return undefined
  const token = tokenFor(running.tokenDigest, [process.env.TOOLPOST_TOKEN, readToken(stateFolder(file))])
  return token === false ? undefined : gatewayAt(running.url, token)
}

/** A token is sent only to the gateway that it belongs to: the note may come from somebody else. `false` if none does. */
function tokenFor(digest: string | undefined, known: (string | undefined)[]): string | false | undefined {
  return digest ? (known.find(token => token && digestOf(token) === digest) ?? false) : undefined
}

export type GatewayClient = ReturnType<typeof gatewayAt>

/** Talks to a running gateway, as its owner. Node's `http`, because loading `fetch` takes longer than most calls. */
function gatewayAt(address: string, token: string | undefined) {
  const base = address.replace(/\/$/, '')
  const send = async (path: string, { body, headers, signal, timeoutMs }: RequestOptions) => {
    const url = new URL(`${base}${path}`)
    const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
    const type = body !== undefined && { 'content-type': 'application/json' }
    const key = token !== undefined && { authorization: `Bearer ${token}` }
    const method = body === undefined ? 'GET' : 'POST'
    const options = { method, signal, timeout: timeoutMs, headers: { ...type, ...key, ...headers } }
    return new Promise<IncomingMessage>((done, reject) => {
      const outgoing = request(url, options, response => done(response.setEncoding('utf8')))
      outgoing.once('timeout', () => outgoing.destroy(new Error('no answer')))
      outgoing.once('error', (cause: NodeJS.ErrnoException) => {
        const problem = `No gateway at ${base}: start it with \`toolpost up\`, or give its address with --url`
        const Problem = cause.code === 'ECONNREFUSED' ? NoGateway : UsageError
        reject(signal?.aborted ? cause : new Problem(problem, { cause }))
      })
      outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
  const request = async (path: string, options: RequestOptions) => {
    const response = await send(path, options)
    let text = ''
    for await (const chunk of response) text += chunk
    const isJson = response.headers['content-type']?.includes('json') === true
    return { status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : undefined }
  }
  return {
    request,
    /** GET, or POST with a body. Rejects with a UsageError that says what is wrong. */
    async ask<T>(path: string, given?: object): Promise<T> {
      const { status, body } = await request(path, { body: given, timeoutMs: TIMEOUT_MS })
      if (status >= 200 && status < 300) return body as T
      throw new UsageError(body?.error ?? `${base} answered ${status}`)
    },
    /** The events of a stream. Rejects with a UsageError if the answer is none. */
    async *events(path: string, options: RequestOptions): AsyncGenerator<{ type: string; data: unknown }> {
      const response = await send(path, options)
      if (response.statusCode !== 200) throw new UsageError(`${base} answered ${response.statusCode}`)
      let text = ''
      for await (const chunk of response) {
        const parts = (text + chunk).split('\n\n')
        text = parts.pop() ?? ''
        for (const part of parts) {
          const [, type, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? []
          if (type !== undefined) yield { type, data: JSON.parse(data) }
        }
      }
    },
  }
}
