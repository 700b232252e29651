/** The parts of a broker's address, under the names of mqtt.js's options. */
export interface BrokerAddress {
  protocol: 'mqtt' | 'mqtts' | 'ws' | 'wss'
  host: string
  port?: number
  /** WebSockets only. */
  path?: string
  username?: string
  password?: string
}

const PROTOCOLS = new Map<string, BrokerAddress['protocol']>([
  ...(['mqtt', 'mqtts', 'ws', 'wss'] as const).map(name => [name, name] as const),
  ['tcp', 'mqtt'],
  ['ssl', 'mqtts'],
  ['tls', 'mqtts'],
])
const HOST = /^(\[[\da-f:.]+(?:%[\w.-]+)?\]|[\p{L}\p{N}._~-]+)(?::(\d+))?(|[/?][^\s#]*)$/iu
const MAX_PORT = 65_535

/**
 * Parses `mqtt://user:password@host:1883`; the scheme may also be mqtts, tcp, ssl, tls, ws, wss or missing (mqtt).
 * The last `@` ends the credentials, so a password may contain any character. Throws an error fit to show a user.
 */
export function brokerAddress(text: string): BrokerAddress {
  const { scheme, login, place } = split(text)
  const protocol = PROTOCOLS.get(scheme || 'mqtt')
  const [, host, port, path = ''] = HOST.exec(place) ?? []
  if (!protocol || !host || (port && !(Number(port) > 0 && Number(port) <= MAX_PORT)))
    throw new Error(
      `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${withoutCredentials(text)}".`,
    )
  const isWebSocket = protocol.startsWith('ws')
  const [, username, password] = /^([^:]*):?(.*)$/s.exec(login) ?? []
  return {
    protocol,
    host: isWebSocket ? host : host.replace(/^\[|\]$/g, ''),
    ...(port && { port: Number(port) }),
    ...(isWebSocket && { path: path.replace(/^(?!\/)/, '/') }),
    ...(username && { username: decoded(username) }),
    ...(password && { password: decoded(password) }),
  }
}

/** The address without user, password and query, safe to show. */
export function withoutCredentials(text: string): string {
  const { scheme, place } = split(text)
  return `${scheme && `${scheme}://`}${HOST.test(place) ? place.replace(/\?.*/s, '') : '…'}`
}

function split(text: string): { scheme: string; login: string; place: string } {
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z\d+.-]*):\/\/)?(.*)$/is.exec(text.trim()) ?? []
  const at = rest.lastIndexOf('@')
  return { scheme: scheme.toLowerCase(), login: rest.slice(0, Math.max(0, at)), place: rest.slice(at + 1) }
}

/** A percent sign that does not start an escape is kept as it is, since passwords contain them. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
