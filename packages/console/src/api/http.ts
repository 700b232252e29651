import { textOf } from './checked.ts'
import { isRecord } from './guards.ts'
import { tokenHeaders } from './token.ts'

/** The gateway answered with an error status. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    super((isRecord(body) && textOf(body.error)) || `The gateway answered with status ${status}`)
    this.status = status
    this.body = body
  }
}

/** The gateway did not answer. */
class GatewayGoneError extends Error {
  override name = 'GatewayGoneError'
}

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent unchanged: JSON text, unless `headers` say otherwise. */
  body?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** A successful response. Throws `ApiError`, `GatewayGoneError`, or an `AbortError`. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(path, options)
  if (response.ok) return response
  throw new ApiError(response.status, await response.json().catch(() => undefined))
}

export async function requestJson<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await request(path, options)
  try {
    return (await response.json()) as T
  } catch (error) {
    if (isAbort(error)) throw error
    throw new GatewayGoneError('The answer from the gateway was cut off', { cause: error })
  }
}

/** The defined fields as a query string. */
export function queryOf(asked: object): URLSearchParams {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

async function send(
  path: string,
  { method = 'GET', body, headers, signal }: RequestOptions,
): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...tokenHeaders(),
        'x-toolpost-client': 'console',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      cache: 'no-store',
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (isAbort(error)) throw error
    throw new GatewayGoneError('The gateway is not responding', { cause: error })
  }
}
