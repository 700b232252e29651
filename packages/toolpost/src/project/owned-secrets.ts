import type { OwnedSecret } from '../interceptors/index.ts'
import { secretsInAddress } from '../logging/config-secrets.ts'
import { isSecretKey } from '../logging/redact.ts'
import { readToken, stateFolder } from './local-state.ts'
import type { ResolvedConfig } from './resolve.ts'

/** A path or an address, as in `${HOME}/data`, is often an argument, and no secret in itself. */
const PLACE = /^(?:[./~]|[A-Za-z]:\\|[a-z][a-z+.-]*:\/\/)/
/** A scheme before a token in a header. */
const SCHEME = /^(?:bearer|basic|token)\s+/i

/** The secrets of a configuration and where they are set, each with the server that may receive it. */
export function ownedSecrets({ config, file, fromEnvironment }: ResolvedConfig): OwnedSecret[] {
  const { clients = {}, gateway, models, mcpServers = {} } = config
  const own = [
    ['gateway.token', gateway?.token],
    ['.toolpost/token', file === undefined ? undefined : readToken(stateFolder(file))],
    ['models.openai.apiKey', models?.openai?.apiKey],
    ...Object.entries(clients).map(([name, { token }]) => [`clients.${name}.token`, token]),
    ...Object.entries(process.env).filter(([name]) => /_API_KEY$|^TOOLPOST_TOKEN$/.test(name)),
  ] as [string, unknown][]
  const ofServers = Object.entries(mcpServers).flatMap(([server, entry]) => {
    const [place, settings = {}] = entry.url === undefined ? ['env', entry.env] : ['headers', entry.headers]
    return Object.entries(settings).flatMap(([name, text]) => {
      const key = `mcpServers.${server}.${place}.${name}`
      const value = text.replace(SCHEME, '')
      const isFilled = fromEnvironment[server]?.includes(name) === true && !PLACE.test(value)
      const values = isSecretKey(name) || isFilled ? [value] : secretsInAddress(value)
      return values.map(each => ({ key, value: each, server }))
    })
  })
  return [...ofServers, ...own.flatMap(([key, value]) => (typeof value === 'string' ? [{ key, value }] : []))]
}
