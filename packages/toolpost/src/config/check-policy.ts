import type { PolicyRule } from '../interceptors/index.ts'
import { fitsGlob, globProblem } from '../runtime/glob.ts'
import { compileSchema } from '../schema/compile.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/**
 * Checks what a JSON Schema cannot express about a policy: rules that can never match, and unusable schemas. Returns
 * warnings about what may be a mistake: a server missing from an included file may be added later.
 */
export async function checkPolicy(config: ToolpostConfig, source: ConfigSource): Promise<string[]> {
  const rules = config.policy ?? []
  const doubts: string[] = []
  for (const [index, rule] of rules.entries()) {
    const unknownServer = unknownServers(rule, config)
    if (unknownServer && config.include?.length) doubts.push(`⚠️ policy[${index}] ${unknownServer} (yet)`)
    const problem =
      badPattern(rule) ??
      (config.include?.length ? undefined : unknownServer) ??
      unknownCallers(rule, config) ??
      contradiction(rule) ??
      shadow(rule, rules.slice(0, index)) ??
      (await brokenSchema(rule))
    if (problem) throw source.error(['policy', index], problem)
  }
  return doubts
}

/** An invalid pattern would guard nothing. */
function badPattern({ tools, servers, callers }: PolicyRule): string | undefined {
  const patterns = [tools, servers, callers].flat().filter(pattern => pattern !== undefined)
  return patterns.map(globProblem).find(problem => problem !== undefined)
}

/** Tools may appear later, but servers and callers are in the configuration. */
function unknownServers({ servers }: PolicyRule, { mcpServers = {} }: ToolpostConfig): string | undefined {
  if (!isUnknown(servers, Object.keys(mcpServers))) return undefined
  return `can never match: there is no server '${servers?.join("', '")}' in mcpServers`
}

function unknownCallers({ callers }: PolicyRule, { clients = {} }: ToolpostConfig): string | undefined {
  if (!isUnknown(callers, ['default', ...Object.keys(clients)])) return undefined
  return `can never match: there is no client '${callers?.join("', '")}' in clients`
}

function isUnknown(names: readonly string[] | undefined, known: readonly string[]): boolean {
  return names?.every(glob => !known.some(name => fitsGlob(name, glob))) === true
}

function contradiction(rule: PolicyRule): string | undefined {
  if (rule.if?.destructive === true && rule.if.readOnly === true)
    return "can never match: a tool is either 'destructive' or 'readOnly'"
  return undefined
}

/** The first matching rule decides, so one after a broader one never does. */
function shadow(rule: PolicyRule, before: readonly PolicyRule[]): string | undefined {
  const index = before.findIndex(wider => isWider(wider, rule))
  return index < 0 ? undefined : `can never match: policy[${index}] matches first`
}

function isWider(wider: PolicyRule, rule: PolicyRule): boolean {
  return (
    holdsAll(listOf(wider.tools), listOf(rule.tools)) &&
    // Tools without a server match no `servers`, not even `*`.
    (wider.servers === undefined || (rule.servers !== undefined && holdsAll(wider.servers, rule.servers))) &&
    holdsAll(wider.from, rule.from) &&
    holdsAll(wider.callers, rule.callers) &&
    Object.entries(wider.if ?? {}).every(([hint, wanted]) => rule.if?.[hint as 'readOnly'] === wanted) &&
    (wider.args === undefined || JSON.stringify(wider.args) === JSON.stringify(rule.args))
  )
}

function listOf(names: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof names === 'string' ? [names] : names
}

function holdsAll(wider: readonly string[] | undefined, names: readonly string[] | undefined): boolean {
  if (wider === undefined || wider.includes('*')) return true
  return names?.every(name => wider.some(glob => holds(glob, name))) === true
}

/** Whether `glob` matches everything `name` does, which may be a pattern itself: a `?` does not cover its `*`. */
function holds(glob: string, name: string): boolean {
  return glob === name || (fitsGlob(name, glob) && !(glob.includes('?') && name.includes('*')))
}

async function brokenSchema({ args }: PolicyRule): Promise<string | undefined> {
  if (args === undefined) return undefined
  try {
    const { leftOut } = await compileSchema(args)
    const [pattern] = leftOut
    return pattern && `'args' has a pattern that cannot be checked in linear time: ${pattern}`
  } catch (error) {
    return `'args' is not a usable JSON Schema: ${(error as Error).message}`
  }
}
