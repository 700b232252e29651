import type { ServerResponse } from 'node:http'
import type { FakeGateway } from '../fake-gateway.ts'

interface Chat {
  gateway: FakeGateway
  /** The body as it came. */
  request: string
  response: ServerResponse
  signal: AbortSignal
}

/** Switches the light that it is asked for, fails if asked to "fail", waits for approval if asked to "ask", and never ends if asked for "forever". */
export async function answerChat({ gateway, request, response, signal }: Chat): Promise<void> {
  const { message, conversation = 'c1' } = JSON.parse(request) as { message: string; conversation?: string }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (event: string, data: unknown) =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  const end = (text: string, more: object = {}) => {
    send('end', { text, conversation, stopReason: 'answer', model: 'offline', ...more })
    response.end()
  }
  if (/fail/.test(message)) return end('', { error: 'Ollama does not answer at 127.0.0.1:11434' })
  if (/forever/.test(message)) {
    send('token', { text: 'Once upon a time' })
    await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
    return
  }
  const device = /(?:the )?(\w+ (?:light|lamp))/i.exec(message)?.[1] ?? 'Kitchen light'
  const call = { id: 'call-1', name: 'control_zwave_device', args: { deviceName: device, action: 'on' } }
  send('token', { text: 'One moment. ' })
  send('call', { phase: 'start', ...call })
  if (/ask/.test(message)) await gateway.decided(gateway.ask(call.name, call.args, { origin: 'chat' }))
  const result = await gateway.call(call.name, call.args, { origin: 'chat', signal })
  send('call', { phase: 'end', ...call, result })
  for (const word of ['The ', `${device} `, 'is ', 'on.']) send('token', { text: word })
  end(`One moment. The ${device} is on.`)
}
