import { json } from '../http/answers.ts'

/** A refused request, as a JSON-RPC error. */
export function rpcFailure(
  status: number,
  message: string,
  { id = null, headers }: { id?: string | number | null; headers?: Record<string, string> } = {},
): Response {
  const code = status === 404 ? -32_001 : status === 400 ? -32_600 : -32_000
  return json({ jsonrpc: '2.0', id, error: { code, message } }, status, headers)
}

/** A body that is not JSON, so the request's id is unknown. */
export function parseFailure(problem: string): Response {
  const error = { code: -32_700, message: `Parse error: ${problem}` }
  return json({ jsonrpc: '2.0', id: null, error }, 400)
}
