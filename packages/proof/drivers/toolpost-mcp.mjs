// Toolpost's gateway over MCP, with the official client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { gateway, inTurn, start as startGateway, stop as stopGateway } from './gateway.mjs'
import { outcomeOf } from './shared.mjs'

export { pid, supports } from './gateway.mjs'
export const packages = ['toolpost', '@modelcontextprotocol/client']

const client = new Client({ name: 'toolpost-proof', version: '1.0.0' })

export async function start(options) {
  await startGateway(options)
  const requestInit = { headers: { authorization: gateway.headers.authorization } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }))
}

export async function call(tool, args, { signal, timeoutMs }) {
  const progress = { onprogress: () => {}, resetTimeoutOnProgress: true }
  const options = { signal, ...(timeoutMs !== undefined && { timeout: timeoutMs, ...progress }) }
  return outcomeOf(await inTurn(() => client.callTool({ name: tool, arguments: args }, options)))
}

export async function stop() {
  await client.close()
  await stopGateway()
}
