import { globProblem } from '../runtime/glob.ts'
import { isLoopback } from '../runtime/loopback.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'
import { tokenProblem } from './token-problem.ts'

type Clients = Readonly<
  Record<
    string,
    {
      token: string
      tools?: readonly string[] | undefined
      resources?: readonly string[] | undefined
      prompts?: readonly string[] | undefined
    }
  >
>

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/

/** Checks the tokens of a configuration, with the environment filled in. */
export function checkClients({ clients = {}, gateway = {} }: ToolpostConfig, source: ConfigSource): void {
  const { token, host = '127.0.0.1', oauth } = gateway
  const wrong = token ? tokenProblem(token) : undefined
  if (wrong) throw source.error(['gateway', 'token'], wrong)
  if (token === false && (Object.keys(clients).length > 0 || oauth))
    throw source.error(['gateway', 'token'], "cannot be false together with 'clients' or 'oauth'")
  if (token === false && !isLoopback(host))
    throw source.error(['gateway', 'token'], `can only be false on loopback, not on ${host}`)
  const [found] = clientProblems(clients, token || undefined)
  if (found) throw source.error(found.path, found.problem)
}

/** The problems with clients, and where they are. Never shows tokens; `own` is the gateway's token. */
export function* clientProblems(
  clients: Clients,
  own?: string,
): Generator<{ path: ConfigPath; problem: string }> {
  const owners = new Map(own === undefined ? [] : [[own, 'the gateway']])
  for (const [name, { token, ...patterns }] of Object.entries(clients)) {
    const path = ['clients', name]
    const owner = owners.get(token)
    const wrongName = nameProblem(name)
    const wrongToken = tokenProblem(token) ?? (owner && `is the same as the token of ${owner}`)
    if (wrongName) yield { path, problem: wrongName }
    if (wrongToken) yield { path: [...path, 'token'], problem: wrongToken }
    for (const kind of ['tools', 'resources', 'prompts'] as const)
      for (const [index, pattern] of (patterns[kind] ?? []).entries()) {
        const problem = globProblem(pattern)
        if (problem) yield { path: [...path, kind, index], problem }
      }
    owners.set(token, `'${name}'`)
  }
}

function nameProblem(name: string): string | undefined {
  if (name === 'default') return "'default' is reserved for the gateway's own token; choose another name"
  return NAME.test(name) ? undefined : 'expected at most 64 letters, digits, _, . or -'
}
