import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RememberedDecision } from '../interceptors/index.ts'
import { isRecord } from '../util/guards.ts'
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
  /** The fingerprint of the tool's definition. */
  definition?: string
}

function fileBeside(configFile: string | undefined): string {
  return join(configFile === undefined ? process.cwd() : dirname(configFile), FILE)
}

/** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
export function rememberedDecisions(configFile: string | undefined): RememberedDecision[] {
  return readRules(fileBeside(configFile)).map(rule => {
    const { tools, servers, from, callers, then, because = '', definition } = rule
    const [server, origin, caller] = [servers?.[0], from?.[0], callers?.[0]]
    return { tool: tools, server, origin, caller, then, because, definition }
  })
}

/** Writes atomically. Throws if that fails. */
export function rememberDecision(configFile: string | undefined, decision: RememberedDecision): void {
  const { tool, server, origin, caller, then, because, definition } = decision
  const rule: Rule = {
    tools: tool,
    ...(server !== undefined && { servers: [server] }),
    ...(origin !== undefined && { from: [origin] }),
    ...(caller !== undefined && { callers: [caller] }),
    ...{ then, because },
    ...(definition !== undefined && { definition }),
  }
  const file = fileBeside(configFile)
  const draft = `${file}.${process.pid}.tmp`
  // The file may have been edited, or changed by another process.
  writeFileSync(draft, `${JSON.stringify({ rules: [rule, ...readRules(file)] }, null, 2)}\n`, { mode: 0o600 })
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
  const wrong = Array.isArray(rules) ? rules.findIndex(rule => !isRule(rule)) : undefined
  if (wrong !== -1) throw new ConfigError(FILE, wrong === undefined ? '' : `rules.${wrong}`, EXPECTED)
  return rules as Rule[]
}

/** Strict: a misspelt key would make a rule apply more broadly than intended. */
function isRule(value: unknown): boolean {
  if (!isRecord(value)) return false
  const {
    tools,
    servers = [''],
    from = [''],
    callers = [''],
    then,
    because = '',
    definition = '',
    ...others
  } = value
  const areNames = [servers, from, callers].every(
    names => Array.isArray(names) && names.length === 1 && typeof names[0] === 'string',
  )
  const areTexts = [tools, because, definition].every(text => typeof text === 'string')
  return areTexts && areNames && (then === 'allow' || then === 'deny') && Object.keys(others).length === 0
}
