import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config/config.ts'
import type { RememberedDecision } from '../interceptors/index.ts'
import { isRecord } from '../runtime/guards.ts'

const FILE = 'toolpost.approvals.json'

/** Permanent decisions: rules in a separate file next to the configuration, which itself is never written to. */
export class RememberedDecisions {
  readonly #file: string

  constructor(configFile: string | undefined) {
    this.#file = join(configFile === undefined ? process.cwd() : dirname(configFile), FILE)
  }

  /** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
  get decisions(): RememberedDecision[] {
    return readRules(this.#file).map(({ tools: tool, servers, from, callers, then, because = '' }) => ({
      tool,
      server: servers?.[0],
      origin: from?.[0],
      caller: callers?.[0],
      then,
      because,
    }))
  }

  /** Writes atomically. Throws if that fails. */
  add({ tool, server, origin, caller, then, because }: RememberedDecision): void {
    const rule: Rule = {
      tools: tool,
      ...(server !== undefined && { servers: [server] }),
      ...(origin !== undefined && { from: [origin] }),
      ...(caller !== undefined && { callers: [caller] }),
      then,
      because,
    }
    // The file may have been edited, or changed by another process.
    const rules = [rule, ...readRules(this.#file)]
    const draft = `${this.#file}.${process.pid}.tmp`
    writeFileSync(draft, `${JSON.stringify({ rules }, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, this.#file)
  }
}

/** A rule of the policy, but for a single tool by its exact name. */
interface Rule {
  tools: string
  servers?: string[]
  from?: string[]
  callers?: string[]
  then: 'allow' | 'deny'
  because?: string
}

function readRules(file: string): Rule[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new ConfigError(FILE, '', `cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const rules = rulesIn(text)
  const wrong = rules?.findIndex(rule => !isRule(rule)) ?? -1
  if (rules && wrong < 0) return rules as Rule[]
  throw new ConfigError(
    FILE,
    rules ? `rules.${wrong}` : '',
    'expected { "rules": [{ "tools": name, "servers"?: [name], "from"?: [origin], "callers"?: [name], "then": "allow" | "deny" }] }',
  )
}

function rulesIn(text: string): unknown[] | undefined {
  try {
    const { rules } = JSON.parse(text)
    return Array.isArray(rules) ? rules : undefined
  } catch {
    return undefined
  }
}

/** Strict: a misspelt key would make a rule apply more broadly than intended. */
function isRule(value: unknown): value is Rule {
  if (!isRecord(value)) return false
  const { tools, servers = ['any'], from = ['any'], callers = ['any'], then, because = '', ...others } = value
  const isName = (names: unknown) =>
    Array.isArray(names) && names.length === 1 && typeof names[0] === 'string'
  return (
    typeof tools === 'string' &&
    isName(servers) &&
    isName(from) &&
    isName(callers) &&
    (then === 'allow' || then === 'deny') &&
    typeof because === 'string' &&
    Object.keys(others).length === 0
  )
}
