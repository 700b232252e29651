import { shownAddress } from '../logging/config-secrets.ts'
import { globProblem } from '../runtime/glob.ts'
import { limitProblem } from './check-limits.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'

/** Checks what the schema cannot express about durable calls, with the environment filled in. */
export function checkDurable({ durable }: ToolpostConfig, source: ConfigSource): void {
  if (typeof durable !== 'object') return
  const { databaseUrl, tools = [], limits = {} } = durable
  const check = (path: ConfigPath, problem: string | undefined) => {
    if (problem !== undefined) throw source.error(['durable', ...path], problem)
  }
  if (databaseUrl !== undefined) check(['databaseUrl'], addressProblem(databaseUrl))
  for (const [index, pattern] of tools.entries()) check(['tools', index], globProblem(pattern))
  for (const [pattern, limit] of Object.entries(limits))
    check(['limits', pattern], limitProblem(pattern, limit))
}

const PROTOCOLS = ['postgres:', 'postgresql:']
const EXPECTED = 'expected postgres://user:password@host:5432/database'

/** Never shows passwords. */
function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return `is not a valid URL: '${shownAddress(text)}'; ${EXPECTED}`
  const { protocol, pathname } = new URL(text)
  if (!PROTOCOLS.includes(protocol)) return `is not a PostgreSQL URL: '${shownAddress(text)}'; ${EXPECTED}`
  return pathname.length > 1 ? undefined : `has no database name: '${shownAddress(text)}'; ${EXPECTED}`
}
