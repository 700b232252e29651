import type { FetchLike } from '@modelcontextprotocol/client'
import { removeFromLogs } from '../../logging/redact.ts'
import { isLoopback } from '../../util/text.ts'
import { parsedJson } from '../json-limit.ts'
import { describeError, shownUrl } from '../server-failure.ts'

/** A request to an authorization server that takes longer has failed. */
export const OAUTH_TIMEOUT_MS = 10_000
const MAX_OAUTH_BYTES = 1024 * 1024
const SECRETS = /token$|secret|assertion/

/** An authorization server refused to issue a token or register a client. */
export class OAuthDenial extends Error {
  override name = 'OAuthDenial'

  constructor(error: unknown, description: unknown) {
    super(describeError(description ? `${error} (${description})` : error))
  }
}

/**
 * Does something with a `fetch` for logins: https only (plain http on this machine, if the MCP server is on it too), no
 * redirects to another host, and limits on size and time. A POST that fails is a denial.
 */
export async function withOAuthFetch<T>(
  serverUrl: string,
  work: (fetch: FetchLike) => Promise<T>,
): Promise<T> {
  let refusal: Error | undefined
  let asked = ''
  const refuse = (problem: string): never => {
    refusal ??= new Error(problem)
    throw refusal
  }
  const guarded: FetchLike = async (given, init) => {
    const url = new URL(String(given))
    const shown = shownUrl(url.href)
    asked = shown
    const isPost = init?.method === 'POST'
    const problem = insecure(url, serverUrl)
    if (problem) refuse(problem)
    const signal = AbortSignal.timeout(OAUTH_TIMEOUT_MS)
    const response = await fetch(url, { ...init, redirect: 'manual', signal }).catch(error => {
      throw new Error(`${shown} cannot be reached: ${describeError(error)}`, { cause: error })
    })
    const { status, headers } = response
    const location = headers.get('location')
    if (status >= 300 && status < 400 && location !== null) {
      const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined
      if (to?.origin === url.origin && !isPost) return response
      refuse(`${shown} redirects to ${shownUrl(to?.href ?? location)}`)
    }
    const text = (await limitedBytes(response, MAX_OAUTH_BYTES))?.toString('utf8')
    if (text === undefined) return refuse(`${shown} answered with more than ${MAX_OAUTH_BYTES} bytes`)
    const answer: Record<string, unknown> = Object(parsedJson(text))
    removeFromLogs(Object.keys(answer).flatMap(key => (SECRETS.test(key) ? [String(answer[key])] : [])))
    // A server with problems of its own has not denied anything.
    const isDenial = typeof answer.error === 'string' && status < 500 && status !== 429
    if (isPost && !response.ok)
      throw isDenial
        ? new OAuthDenial(answer.error, answer.error_description)
        : new Error(`${shown} answered ${status}`)
    return new Response(status === 204 || status === 304 ? null : text, { status, headers })
  }
  try {
    return await work(guarded)
  } catch (error) {
    // The message of the SDK's schema is a list in JSON.
    const isMalformed = error instanceof Error && error.name.endsWith('ZodError')
    throw isMalformed ? new Error(`${asked} gave a malformed answer`) : error
  } finally {
    // The SDK tries other URLs after a refusal, and hides it.
    if (refusal) refuse('')
  }
}

/** Why no part of a login may be sent to this URL; `undefined` if it may. */
export function insecure(url: URL, serverUrl: string): string | undefined {
  const shown = shownUrl(url.href)
  if (!isLoopback(url.hostname)) return url.protocol === 'https:' ? undefined : `${shown} is not https`
  if (isLoopback(new URL(serverUrl).hostname)) return undefined
  return `${shown} is on this machine, but the server that names it is not`
}

/** The body of a response; `undefined` if it is longer than `maxBytes`. */
export async function limitedBytes({ body }: Response, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
