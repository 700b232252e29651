// Toolpost's gateway over its HTTP API.
import { gateway, inTurn } from './gateway.mjs'
import { outcomeOfResult } from './toolpost.mjs'

export { pid, start, stop, supports } from './gateway.mjs'
export const packages = ['toolpost']

export async function call(tool, args, { signal, timeoutMs }) {
  const headers = {
    ...gateway.headers,
    ...(timeoutMs !== undefined && { 'x-timeout-ms': String(timeoutMs) }),
  }
  const url = `${gateway.url}/api/tools/${encodeURIComponent(tool)}/call`
  const answer = await inTurn(async () => {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(args), signal })
    return response.json()
  })
  return 'success' in answer ? outcomeOfResult(answer) : { ok: false, text: answer.error }
}
