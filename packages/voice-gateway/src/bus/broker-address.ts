import type { IClientOptions } from 'mqtt'

const PROTOCOLS = new Set(['mqtt:', 'mqtts:', 'tcp:', 'ssl:', 'tls:', 'ws:', 'wss:'])

/** The parts of a broker's URL as mqtt.js takes them; a bare `host:port` is taken as mqtt. Throws in words. */
export function brokerAddress(text: string): IClientOptions {
  const url = text.includes('://') ? text : `mqtt://${text}`
  if (!URL.canParse(url) || !PROTOCOLS.has(new URL(url).protocol) || !new URL(url).hostname) {
    throw new Error(`The MQTT broker URL must look like mqtt://host:1883, not "${withoutCredentials(text)}".`)
  }
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

/** A broker URL that may be shown: without user and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//').replace(/^[^/]*@/, '')
}
