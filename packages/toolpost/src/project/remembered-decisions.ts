import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RememberedDecision } from '../interceptors/index.ts'
import { ConfigError } from './config.ts'
import { problemIn } from './config-schema.ts'
import { writePrivate } from './local-state.ts'
import { ConfigSource } from './source.ts'

/*
 * Permanent decisions: rules in a separate file next to the configuration, which itself is never written to.
 */

const FILE = 'toolpost.approvals.json'

/** A rule of the policy, but for a single tool by its exact name. */
interface Rule extends Pick<RememberedDecision, 'then' | 'definition'> {
  tools: string
  servers?: [string]
  from?: [string]
  callers?: [string]
  because?: string
}

function fileBeside(configFile: string | undefined): string {
  return join(configFile === undefined ? process.cwd() : dirname(configFile), FILE)
}

/** Throws a ConfigError if the file is malformed: an overlooked rule could be one that denies. */
export function rememberedDecisions(configFile: string | undefined): RememberedDecision[] {
  return readRules(fileBeside(configFile)).map(rule => {
    const { tools: tool, servers, from, callers, then, because = '', definition } = rule
    return { tool, server: servers?.[0], origin: from?.[0], caller: callers?.[0], then, because, definition }
  })
}

/** Throws if it cannot be saved. */
export function rememberDecision(configFile: string | undefined, decision: RememberedDecision): void {
  const { tool: tools, server, origin, caller, then, because, definition } = decision
  const listed = (name: string | undefined) => (name === undefined ? undefined : [name])
  const scope = { servers: listed(server), from: listed(origin), callers: listed(caller) }
  const file = fileBeside(configFile)
  // The file may have been edited, or changed by another process.
  const rules = [{ tools, ...scope, then, because, definition }, ...readRules(file)]
  writePrivate(file, `${JSON.stringify({ rules }, null, 2)}\n`)
}

function readRules(file: string): Rule[] {
  if (!existsSync(file)) return []
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(FILE, '', `cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const source = new ConfigSource(FILE, text)
  const wrong = problemIn(source.value, 'decisions')
  if (wrong) throw source.error(wrong.path, wrong.problem, wrong)
  return (source.value as { rules: Rule[] }).rules
}
