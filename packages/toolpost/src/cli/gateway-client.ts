import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import type { ToolpostConfig } from '../project/config.ts'
import { digestOf, readToken, runningGateway as runningIn, stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import type { Flags } from './context.ts'
import { UsageError } from './terminal.ts'

const TIMEOUT_MS = 10_000

interface RequestOptions {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Nothing was sent: no gateway listens there. */
export class NoGateway extends UsageError {
  override name = 'NoGateway'
}

/** The token that somebody chose, if anybody did; `false` if they chose to have none. */
export function chosenToken({ gateway }: ToolpostConfig, given?: string): string | false | undefined {
  return given ?? (process.env.TOOLPOST_TOKEN || undefined) ?? gateway?.token
}

/** The gateway at `--url`, or the `toolpost up` of this folder. Throws a UsageError if there is none. */
export function openGateway({ config, file }: Project, { url, token }: Flags): GatewayClient {
  const chosen = chosenToken(config, token) || undefined
  if (url !== undefined && !(/^https?:\/\//.test(url) && URL.canParse(url)))
    throw new UsageError(`--url expects an http or https URL, got '${url}'`)
  const gateway = url === undefined ? runningGateway(file, chosen) : gatewayAt(url, chosen)
  if (gateway) return gateway
  const remedy = 'start it with `toolpost up`, or give its --url and --token'
  throw new UsageError(`No gateway runs in this folder, or it has another token: ${remedy}`)
}

/** The `toolpost up` that runs this configuration, if there is one and its token is known without reading the file. */
export function runningGateway(
  config = 'toolpost.json',
  chosen = process.env.TOOLPOST_TOKEN,
): GatewayClient | undefined {
  const file = resolve(config)
  const running = runningIn(stateFolder(file))
  if (running?.config !== file) return undefined
  const { url, tokenDigest: digest } = running
  if (!digest) return gatewayAt(url)
  // A token is sent only to the gateway that it belongs to: the note may come from somebody else.
  const token = [chosen, readToken(stateFolder(file))].find(known => known && digestOf(known) === digest)
  return token === undefined ? undefined : gatewayAt(url, token)
}

export type GatewayClient = ReturnType<typeof gatewayAt>

/** Talks to a running gateway, as its owner. Node's `http`, because loading `fetch` takes longer than most calls. */
function gatewayAt(address: string, token?: string) {
  const base = address.replace(/\/$/, '')
  const send = async (path: string, { body, headers, signal }: RequestOptions) => {
    const url = new URL(`${base}${path}`)
    const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
    const options = {
      ...{ method: body === undefined ? 'GET' : 'POST', signal },
      headers: {
        ...{ ...headers, 'x-toolpost-client': 'cli' },
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    }
    return new Promise<IncomingMessage>((done, reject) => {
      const outgoing = request(url, options, response => done(response.setEncoding('utf8')))
      outgoing.once('error', (cause: NodeJS.ErrnoException) => {
        const problem = `No gateway at ${base}: start it with \`toolpost up\`, or give its address with --url`
        const Problem = cause.code === 'ECONNREFUSED' ? NoGateway : UsageError
        reject(new Problem(problem, { cause }))
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
    async ask<T>(path: string, body?: object): Promise<T> {
      const answer = await request(path, { body, signal: AbortSignal.timeout(TIMEOUT_MS) })
      if (answer.status >= 200 && answer.status < 300) return answer.body as T
      throw new UsageError(answer.body?.error ?? `${base} answered ${answer.status}`)
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
