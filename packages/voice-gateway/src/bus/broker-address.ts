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
    ...(username && { username: decoded(username) }),
    ...(password && { password: decoded(password) }),
  }
}

/** A percent sign that does not begin a character stands for itself: passwords have them. */
function decoded(part: string): string {
  return part.replace(/(?:%[\da-f]{2})+/gi, escapes => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

/** A broker URL that may be shown: without user and password, also where a slash in them should have been escaped. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?.*@/i, '$1')
}
