import { hostname, networkInterfaces } from 'node:os'
import { clientProblems, oauthProblems, tokenProblem } from '../project/check.ts'
import type { OAuthConfig } from '../project/config.ts'
import { isLoopback } from '../util/text.ts'
import type { ClientList } from './clients.ts'

/** The gateway cannot start with these options. The message says what to do. */
export class GatewayError extends Error {
  override name = 'GatewayError'
}

/** Throws if a token could be guessed or cannot be sent. */
export function checkToken(token: string | false | undefined): void {
  const problem = token ? tokenProblem(token) : undefined
  if (problem) throw new GatewayError(`The token ${problem}`)
}

/** Throws if clients could not be told apart or their tokens could be guessed. */
export function checkGatewayClients(clients: ClientList = {}, own: string | false | undefined): void {
  if (own === false && Object.keys(clients).length > 0)
    throw new GatewayError('\'clients\' need authentication: remove "token": false')
  const [found] = clientProblems(clients, own || undefined)
  if (found) throw new GatewayError(`${found.path.join('.')}: ${found.problem}`)
}

/** Throws on an untrustworthy issuer and on meaningless scopes. */
export function checkGatewayOAuth(oauth: OAuthConfig | undefined, own: string | false | undefined): void {
  if (own === false && oauth) throw new GatewayError('\'oauth\' needs authentication: remove "token": false')
  const [found] = oauth ? oauthProblems(oauth) : []
  if (found) throw new GatewayError(`gateway.oauth.${found.path.join('.')}: ${found.problem}`)
}

/** Throws if the network could reach the tools without a token that somebody chose. */
export function checkHost(host: string, isGuarded: boolean): void {
  if (isLoopback(host) || isGuarded) return
  throw new GatewayError(
    `Listening on ${host} lets others on the network call the tools: set a token with TOOLPOST_TOKEN, --token or "gateway": { "token": … }`,
  )
}

export function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return
  throw new GatewayError(`Invalid port ${port}; expected a number from 0 to 65535`)
}

/** The host names of a gateway that listens on `host`. */
export function hostNamesOf(host: string): string[] {
  if (isLoopback(host)) return [host]
  const addresses = Object.values(networkInterfaces()).flatMap(
    found => found?.map(({ address }) => address) ?? [],
  )
  const name = hostname().toLowerCase()
  return [host, name, `${name}.local`, ...addresses].filter(each => each !== '0.0.0.0' && each !== '::')
}

/** The host as written in a URL. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
