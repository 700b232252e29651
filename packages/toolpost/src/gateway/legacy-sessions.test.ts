import { Server } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { LegacySessions } from './mcp-server/legacy-sessions.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }

function sessions(maxSessions: number) {
  const createServer = () => new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } })
  const kept = new LegacySessions({ createServer, onError: () => {}, maxSessions })
  const send = (body: object, session?: string) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }),
    }
    return kept.handle(new Request('http://127.0.0.1/mcp', { method: 'POST', headers }), body)
  }
  const begin = async () => (await send(initialize)).headers.get('mcp-session-id') ?? ''
  return { kept, send, begin }
}

describe('sessions of clients of the 2025 protocols', () => {
  it('are bounded: the one used least recently is told to begin anew', async () => {
    const { kept, send, begin } = sessions(2)
    const first = await begin()
    const second = await begin()
    expect((await send(ping, first)).status).toBe(200)
    const third = await begin()
    expect(kept.size).toBe(2)
    expect((await send(ping, second)).status).toBe(404)
    expect((await send(ping, first)).status).toBe(200)
    expect((await send(ping, third)).status).toBe(200)
    await kept.close()
    expect(kept.size).toBe(0)
  })

  it('end when the client says so', async () => {
    const { kept, send, begin } = sessions(2)
    const id = await begin()
    const headers = { 'mcp-session-id': id }
    await kept.handle(new Request('http://127.0.0.1/mcp', { method: 'DELETE', headers }), undefined)
    expect(kept.size).toBe(0)
    expect((await send(ping, id)).status).toBe(404)
  })
})
