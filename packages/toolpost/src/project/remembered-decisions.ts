import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RememberedDecision } from '../interceptors/index.ts'
import { isRecord } from '../runtime/guards.ts'
import { ConfigError } from './config.ts'

/*
 * Permanent decisions: rules in a separate file next to the configuration, which itself is never written to.
 */

const FILE = 'toolpost.approvals.json'
const EXPECTED =
  'expected { "rules": [{ "tools": name, "servers"?: [name], "from"?: [origin], "callers"?: [name], "then": "allow" | "deny" }] }'

/** A rule of the policy, but for a single tool by its exact name. */
interface Rule {
  tools: string
  servers?: [string]
  from?: [string]
  callers?: [string]
  then: 'allow' | 'deny'
  because?: string
}

function fileBeside(configFile: string | undefined): string {
  return join(configFile === undefined ? process.cwd() : dirname(configFile), FILE)
}

/** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
export function rememberedDecisions(configFile: string | undefined): RememberedDecision[] {
  return readRules(fileBeside(configFile)).map(({ tools, servers, from, callers, then, because = '' }) => ({
    tool: tools,
    server: servers?.[0],
    origin: from?.[0],
    caller: callers?.[0],
    then,
    because,
  }))
}

/** Writes atomically. Throws if that fails. */
export function rememberDecision(configFile: string | undefined, decision: RememberedDecision): void {
  const { tool, server, origin, caller, then, because } = decision
  const rule: Rule = {
    tools: tool,
    ...(server !== undefined && { servers: [server] }),
    ...(origin !== undefined && { from: [origin] }),
    ...(caller !== undefined && { callers: [caller] }),
    then,
    because,
  }
  const file = fileBeside(configFile)
  // The file may have been edited, or changed by another process.
  const rules = [rule, ...readRules(file)]
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify({ rules }, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

function readRules(file: string): Rule[] {
  let rules: unknown
  try {
    rules = JSON.parse(readFileSync(file, 'utf8'))?.rules
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (!(error instanceof SyntaxError))
      throw new ConfigError(FILE, '', `cannot be read: ${message}`, { cause: error })
  }
  if (!Array.isArray(rules)) throw new ConfigError(FILE, '', EXPECTED)
  const wrong = rules.findIndex(rule => !isRule(rule))
  if (wrong >= 0) throw new ConfigError(FILE, `rules.${wrong}`, EXPECTED)
  return rules
}

/** Strict: a misspelt key would make a rule apply more broadly than intended. */
function isRule(value: unknown): value is Rule {
  if (!isRecord(value)) return false
  const { tools, servers, from, callers, then, because = '', ...others } = value
  const areNames = [servers, from, callers].every(
    names =>
      names === undefined || (Array.isArray(names) && names.length === 1 && typeof names[0] === 'string'),
  )
  const isDecision = then === 'allow' || then === 'deny'
  const areTexts = typeof tools === 'string' && typeof because === 'string'
  return areTexts && areNames && isDecision && Object.keys(others).length === 0
}
