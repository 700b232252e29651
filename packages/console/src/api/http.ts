import { tokenHeaders } from './token.ts'

/** The gateway answered with an error status. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    const said = isRecord(body) && typeof body.error === 'string' ? body.error : ''
    super(said || `The gateway answered with status ${status}`)
    this.status = status
    this.body = body
  }
}

export interface RequestOptions {
  /** POST if there is a body, else GET. */
  method?: 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON, unless it is binary. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** A successful response. Throws `ApiError`, an `AbortError`, or an `Error` if the gateway does not respond. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { body, method = body === undefined ? 'GET' : 'POST', headers, signal } = options
  const isBinary = body instanceof Uint8Array
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...tokenHeaders(),
        'x-toolpost-client': 'console',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      cache: 'no-store',
      ...(body !== undefined && { body: isBinary ? (body as BufferSource) : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (isAbort(error)) throw error
    throw new Error('The gateway is not responding', { cause: error })
  }
  if (response.ok) return response
  throw new ApiError(response.status, await response.json().catch(() => undefined))
}

export async function requestJson<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await request(path, options)
  try {
    return (await response.json()) as T
  } catch (error) {
    if (isAbort(error)) throw error
    throw new Error('The answer of the gateway was cut off', { cause: error })
  }
}

/** The defined fields as a query string. */
export function queryOf(asked: object): URLSearchParams {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** An object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
