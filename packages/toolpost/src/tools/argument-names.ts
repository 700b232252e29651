/*
 * Argument names of MCP tools.
 *
 * Models and LangChain code write snake_case, many MCP servers expect camelCase, and some the reverse.
 * Does an adapter handle that itself? Tested against the real @langchain/mcp-adapters 1.1 on a real
 * stdio server (mcp/adapter.test.ts, [E09]): no; `device_name` reaches a server that expects `deviceName` unchanged
 * and is refused. So this normalisation stays. docs/decisions/2026-11-15-argument-names.md
 */
import { isObjectLike, ownValue } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isNameMap, knownNames } from '../schema/walk-schema.ts'

/** For each tool: given name → name that the server expects. */
export type ParameterNames = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface FittedNames {
  args: Record<string, unknown>
  /** `[given, used]` pairs that differ. */
  renamed: [string, string][]
  /** Given names that were dropped because another argument already has the right name. */
  lost: string[]
}

/** Names for the arguments of one tool, where the schema knows them. */
export interface NameMappings {
  configured?: Readonly<Record<string, string>> | undefined
  /** What we know about the tool; another server's tool of that name may have both names. */
  wellKnown?: Readonly<Record<string, string>> | undefined
}

/** Renames arguments by the mappings, then by the schema. Returns `undefined` if nothing changes. */
export function fitArgumentNames(
  args: Record<string, unknown>,
  schema: JsonSchema,
  mappings: NameMappings = {},
): FittedNames | undefined {
  const renamed: [string, string][] = []
  const naming = namingOf(schema)
  for (const given of Object.keys(args)) {
    const used = fittingName(given, naming, mappings)
    if (used !== given) renamed.push([given, used])
  }
  return renamed.length === 0 ? undefined : rename(args, renamed)
}

function fittingName(
  given: string,
  { names, byFold, isNameMap }: Naming,
  { configured, wellKnown }: NameMappings,
): string {
  // The schema says nothing about names: only the specification's rule is left.
  const isSilent = names.size === 0 && !isNameMap
  const mapped = (mapping: NameMappings[keyof NameMappings]) => {
    const name = mapping && ownValue(mapping, given)
    return name !== undefined && (isSilent || names.has(name)) ? name : undefined
  }
  const chosen = mapped(configured)
  if (chosen !== undefined) return chosen
  if (names.has(given)) return given
  const known = mapped(wellKnown)
  if (known !== undefined) return known
  if (!isSilent) return byFold.get(foldedName(given)) ?? given
  const camel = toCamelCase(given)
  // No argument has the name of an inherited property.
  return camel in Object.prototype ? given : camel
}

interface Naming {
  names: ReadonlySet<string>
  /** Names by their folded form; `undefined` if several names share it. */
  byFold: ReadonlyMap<string, string | undefined>
  /** Whether the schema accepts names it does not list. */
  isNameMap: boolean
}

const namings = new WeakMap<JsonSchema, Naming>()

/** What a schema says about names; computed once. */
export function namingOf(schema: JsonSchema): Naming {
  const before = namings.get(schema)
  if (before) return before
  const names = knownNames(schema)
  const byFold = new Map<string, string | undefined>()
  for (const name of names) {
    const fold = foldedName(name)
    byFold.set(fold, byFold.has(fold) ? undefined : name)
  }
  const naming = { names, byFold, isNameMap: isNameMap(schema) }
  namings.set(schema, naming)
  return naming
}

/** A name without case, `_` and `-`: the same for `player_id`, `playerID` and `player-id`. */
export function foldedName(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
}

function rename(args: Record<string, unknown>, renamed: [string, string][]): FittedNames {
  const target = new Map(renamed)
  const exact = new Set(Object.keys(args).filter(name => !target.has(name)))
  const entries: [string, unknown][] = []
  const lost: string[] = []
  for (const [given, value] of Object.entries(args)) {
    const used = target.get(given) ?? given
    if (used !== given && exact.has(used)) lost.push(given)
    else {
      if (used !== given) exact.add(used)
      entries.push([used, value])
    }
  }
  return { args: Object.fromEntries(entries), renamed, lost }
}

/** snake_case to camelCase; any other name is unchanged. */
function toCamelCase(name: string): string {
  if (!name.includes('_') || !/^[a-z][a-z0-9_]*$/.test(name)) return name
  const [first = '', ...words] = name.split('_')
  return first + words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** For the log: `{device_name: "Switch One"} → {deviceName: "Switch One"}`. */
export function describeRenaming(before: Record<string, unknown>, after: Record<string, unknown>): string {
  return `${braces(before)} → ${braces(after)}`
}

function braces(args: Record<string, unknown>): string {
  return `{${Object.entries(args)
    .map(([name, value]) => `${name}: ${isObjectLike(value) ? '…' : JSON.stringify(value)}`)
    .join(', ')}}`
}
