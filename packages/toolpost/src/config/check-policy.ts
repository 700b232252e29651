import type { PolicyRule } from '../interceptors/index.ts'
import { fitsGlob, globProblem } from '../runtime/glob.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import type { ToolpostConfig } from './config.ts'
import type { ConfigSource } from './config-source.ts'

/** What a JSON Schema cannot say about a policy: rules that can never match, and schemas that are none. */
export async function checkPolicy(config: ToolpostConfig, source: ConfigSource): Promise<void> {
  const rules = config.policy ?? []
  for (const [index, rule] of rules.entries()) {
    const problem =
      badPattern(rule) ??
      unknownNames(rule, config) ??
      contradiction(rule) ??
      shadow(rule, rules.slice(0, index)) ??
      (await brokenSchema(rule))
    if (problem) throw source.error(['policy', index], problem)
  }
}

/** One that is no pattern of ours would guard nothing. */
function badPattern({ tools, servers, callers }: PolicyRule): string | undefined {
  const patterns = [tools, servers, callers].flat().filter(pattern => pattern !== undefined)
  return patterns.map(globProblem).find(problem => problem !== undefined)
}

/** Tools may come later; servers and callers stand in the same file. */
function unknownNames({ servers, callers }: PolicyRule, config: ToolpostConfig): string | undefined {
  const unknown = (names: readonly string[] | undefined, known: readonly string[]) =>
    names?.every(glob => !known.some(name => fitsGlob(name, glob))) === true
  if (unknown(servers, Object.keys(config.mcpServers ?? {})))
    return `can never match: there is no server '${servers?.join("', '")}' in mcpServers`
  if (unknown(callers, ['default', ...Object.keys(config.clients ?? {})]))
    return `can never match: there is no client '${callers?.join("', '")}' in clients`
  return undefined
}

function contradiction(rule: PolicyRule): string | undefined {
  if (rule.if?.destructive === true && rule.if.readOnly === true)
    return "can never match: a tool is either 'destructive' or 'readOnly'"
  return undefined
}

/** The first rule that fits decides, so one behind a wider one never does. */
function shadow(rule: PolicyRule, before: readonly PolicyRule[]): string | undefined {
  const index = before.findIndex(wider => isWider(wider, rule))
  return index < 0 ? undefined : `can never match: policy[${index}] matches first`
}

function isWider(wider: PolicyRule, rule: PolicyRule): boolean {
  return (
    holdsAll(listOf(wider.tools), listOf(rule.tools)) &&
    // Tools of no server fit no `servers`, not even `*`.
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

/** Whether `glob` fits whatever `name` fits, which may be a pattern itself: its `*` is more than a `?` of the other. */
function holds(glob: string, name: string): boolean {
  return glob === name || (fitsGlob(name, glob) && !(glob.includes('?') && name.includes('*')))
}

async function brokenSchema({ args }: PolicyRule): Promise<string | undefined> {
  if (args === undefined) return undefined
  try {
    const { leftOut } = await compileSchema(args)
    return leftOut.length === 0
      ? undefined
      : `'args' has a pattern that cannot be checked in linear time: ${leftOut[0]}`
  } catch (error) {
    return `'args' is not a usable JSON Schema: ${(error as Error).message}`
  }
}
