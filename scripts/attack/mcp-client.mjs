// A minimal MCP client (2025 protocol) for attacks.
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

export async function initialize(url, signal) {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'attack', version: '1' },
  }
  const response = await fetch(`${url}mcp`, {
    method: 'POST',
    headers: HEADERS,
    signal,
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.text()
  return { status: response.status, session: response.headers.get('mcp-session-id') }
}

export async function connect(url) {
  const { session } = await initialize(url)
  let id = 0
  const headers = { ...HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }
  const send = message =>
    fetch(`${url}mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
  await (await send({ method: 'notifications/initialized' })).text()
  return {
    async request(method, params, givenId = ++id) {
      const text = await (await send({ id: givenId, method, params })).text()
      const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
      return JSON.parse(data)
    },
    end: async () => (await fetch(`${url}mcp`, { method: 'DELETE', headers })).status,
    stream: () => fetch(`${url}mcp`, { headers: { ...headers, accept: 'text/event-stream' } }),
  }
}
