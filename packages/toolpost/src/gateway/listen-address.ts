import { hostname, networkInterfaces } from 'node:os'
import { GatewayError } from './gateway-error.ts'
import { MIN_TOKEN_LENGTH } from './limits.ts'

/** Throws if a token could be guessed, or cannot be sent. */
export function checkToken(token: string | undefined): void {
  if (token === undefined) return
  if (token.length < MIN_TOKEN_LENGTH)
    throw new GatewayError(`The token is too short: it needs at least ${MIN_TOKEN_LENGTH} characters`)
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new GatewayError('The token must consist of printable ASCII characters without spaces')
}

/** Throws if everybody on the network could call the tools. */
export function checkHost(host: string, token: string | undefined): void {
  if (isLoopback(host) || token !== undefined) return
  throw new GatewayError(
    `Listening on ${host} lets others on the network call the tools: set a token with --token or TOOLPOST_TOKEN`,
  )
}

export function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return
  throw new GatewayError(`Invalid port ${port}; expected a number from 0 to 65535`)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** The names under which a gateway that listens on `host` may be addressed. */
export function namesOf(host: string): string[] {
  if (isLoopback(host)) return [host]
  const addresses = Object.values(networkInterfaces()).flatMap(
    found => found?.map(({ address }) => address) ?? [],
  )
  const name = hostname().toLowerCase()
  return [host, name, `${name}.local`, ...addresses].filter(each => each !== '0.0.0.0' && each !== '::')
}

/** As it stands in a URL. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
