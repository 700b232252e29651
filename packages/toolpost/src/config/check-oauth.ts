import { globProblem } from '../runtime/glob.ts'
import { isLoopback } from '../runtime/loopback.ts'
import type { OAuthConfig, ToolpostConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'

/** As in RFC 6749: printable ASCII without spaces, double quotes and backslashes. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/

/** Checks the OAuth settings of the gateway, with the environment filled in. */
export function checkOAuth({ gateway }: ToolpostConfig, source: ConfigSource): void {
  const [found] = gateway?.oauth ? oauthProblems(gateway.oauth) : []
  if (found) throw source.error(['gateway', 'oauth', ...found.path], found.problem)
}

/** The problems, and where they are. */
export function* oauthProblems(oauth: OAuthConfig): Generator<{ path: ConfigPath; problem: string }> {
  const { issuer, audience, resource, scopes } = oauth
  const wrongIssuer = addressProblem(issuer)
  const wrongResource = resource === undefined ? undefined : addressProblem(resource)
  if (wrongIssuer) yield { path: ['issuer'], problem: wrongIssuer }
  if (audience.trim() === '') yield { path: ['audience'], problem: 'must not be empty' }
  if (wrongResource) yield { path: ['resource'], problem: wrongResource }
  if (scopes && Object.keys(scopes).length === 0)
    yield { path: ['scopes'], problem: 'lists no scope; leave it out to offer all tools' }
  for (const [scope, patterns] of Object.entries(scopes ?? {})) {
    if (!SCOPE.test(scope))
      yield {
        path: ['scopes', scope],
        problem: 'a scope consists of printable ASCII characters except space, " and \\',
      }
    for (const [index, pattern] of patterns.entries()) {
      const problem = globProblem(pattern)
      if (problem) yield { path: ['scopes', scope, index], problem }
    }
  }
}

/** Keys fetched over plain HTTP could be anyone's. Issuers are compared as strings, so they may have no query or fragment. */
function addressProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return `is not a valid URL: '${address}'`
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    return 'must begin with https://, or http:// on a loopback address'
  if (username !== '' || password !== '') return 'must not contain a user name or password'
  return search !== '' || hash !== '' ? 'must not have a query or fragment' : undefined
}
