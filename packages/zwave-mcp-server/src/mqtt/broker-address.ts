import type { IClientOptions } from 'mqtt'

/** The parts of a broker's URL as mqtt.js takes them. Given the URL itself, it would use Node's deprecated parser. */
export function brokerAddress(url: string): IClientOptions {
  const { protocol, hostname, port, username, password, pathname, search } = new URL(url)
  const isWebSocket = protocol.startsWith('ws')
  return {
    protocol: protocol.slice(0, -1) as NonNullable<IClientOptions['protocol']>,
    host: isWebSocket ? hostname : hostname.replace(/^\[|\]$/g, ''),
    ...(port && { port: Number(port) }),
    ...(isWebSocket && { path: pathname + search }),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  }
}
