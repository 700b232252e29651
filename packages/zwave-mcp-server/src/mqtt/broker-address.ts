const PROTOCOLS = new Map<string, BrokerAddress['protocol']>([
  ['mqtt', 'mqtt'],
  ['tcp', 'mqtt'],
  ['mqtts', 'mqtts'],
  ['ssl', 'mqtts'],
  ['tls', 'mqtts'],
  ['ws', 'ws'],
  ['wss', 'wss'],
])
const MAX_PORT = 65_535

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

interface Parts {
  readonly scheme: string
  /** Undefined if the address has no `@`. */
  readonly login: string | undefined
  /** Everything after the credentials: `host[:port][/path][?query]`. */
  readonly place: string
}

/**
 * Parses `mqtt://user:password@host:1883`; the scheme may also be mqtts, tcp, ssl, tls, ws, wss or missing (mqtt).
 * The last `@` ends the credentials, so a password may contain any character, except that what looks like a percent escape
 * must be escaped, as must a `:` in a user name. `new URL` rejects such passwords. Throws an error fit to show a user.
 */
export function brokerAddress(text: string): BrokerAddress {
  const { scheme, login, place } = split(text)
  const protocol = PROTOCOLS.get(scheme)
  const [, host, , port, path = ''] =
    /^(\[[\da-f:.]+(?:%[\w.-]+)?\]|[\p{L}\p{N}._~-]+)(:(\d+))?(|[/?][^\s#]*)$/iu.exec(place) ?? []
  if (!protocol || !host || (port && !isPort(Number(port)))) {
    throw new Error(
      `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${withoutCredentials(text)}".`,
    )
  }
  const isWebSocket = protocol.startsWith('ws')
  return {
    protocol,
    host: isWebSocket ? host : host.replace(/^\[|\]$/g, ''),
    ...(port && { port: Number(port) }),
    ...(isWebSocket && { path: path.replace(/^(?!\/)/, '/') }),
    ...(login && credentials(login)),
  }
}

/** The address without user, password and query, safe to show. Anything after a malformed host name is left out. */
export function withoutCredentials(text: string): string {
  const { scheme, place } = split(text)
  const [shown = ''] =
    /^(?:\[[^\]\s]*\]|[^\s:/?#[\]]*)(?::\d+(?=$|[/?]))?(?:\/[^\s?#:]*(?=$|\?))?/.exec(place) ?? []
  const rest = place.slice(shown.length)
  return `${hasScheme(text) ? `${scheme}://` : ''}${shown}${rest && !rest.startsWith('?') ? '…' : ''}`
}

function split(text: string): Parts {
  const trimmed = text.trim()
  const scheme = hasScheme(trimmed) ? trimmed.slice(0, trimmed.indexOf(':')).toLowerCase() : 'mqtt'
  const rest = hasScheme(trimmed) ? trimmed.slice(trimmed.indexOf('://') + 3) : trimmed
  const at = rest.lastIndexOf('@')
  return { scheme, login: at < 0 ? undefined : rest.slice(0, at), place: rest.slice(at + 1) }
}

function hasScheme(text: string): boolean {
  return /^\s*[a-z][a-z\d+.-]*:\/\//i.test(text)
}

function isPort(port: number): boolean {
  return port > 0 && port <= MAX_PORT
}

function credentials(login: string): Pick<BrokerAddress, 'username' | 'password'> {
  const [username = ''] = login.split(':', 1)
  const password = login.slice(username.length + 1)
  return {
    ...(username && { username: decoded(username) }),
    ...(password && { password: decoded(password) }),
  }
}

/** A percent sign that does not start an escape is kept as it is, since passwords contain them. */
function decoded(part: string): string {
  return part.replace(/(?:%[\da-f]{2})+/gi, escapes => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}
