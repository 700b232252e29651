// Started by the suite: `client-command.mjs <port of the host> <url>`, with the scenario in the environment.
import { request } from 'node:http'
import { json } from 'node:stream/consumers'

const [, , port, url] = process.argv
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env

request({ port, host: '127.0.0.1', method: 'POST' }, async response => {
  const { isConnected, lines } = await json(response)
  for (const line of lines) console.error(line)
  process.exitCode = isConnected ? 0 : 1
}).end(JSON.stringify({ url, scenario, context: JSON.parse(context) }))
