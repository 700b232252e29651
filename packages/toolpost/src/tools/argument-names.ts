/*
 * Argument names of MCP tools.
 *
 * Models and LangChain code write snake_case, many MCP servers take camelCase, and some the reverse.
 * Does an adapter bridge that by itself? Tested against the real @langchain/mcp-adapters 1.1 on a real
 * stdio server (mcp/adapter.test.ts, [E09]): it does not; `device_name` reaches a server that wants `deviceName`
 * as `device_name` and is refused. So this normalisation stays. docs/decisions/2026-11-15-argument-names.md
 */
import { isObjectLike } from '../runtime/guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { isNameMap, knownNames } from '../schema/walk-schema.ts'

/** For each tool: given name → name that the server takes. */
export type ParameterNames = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface FittedNames {
  args: Record<string, unknown>
  /** `[given, used]` pairs that differ. */
  renamed: [string, string][]
  /** Given names whose value gave way to an argument that already had the right name. */
  lost: string[]
}

/** Renames the arguments along the mapping, then along the schema. Returns `undefined` if nothing changes. */
export function fitArgumentNames(
  args: Record<string, unknown>,
  schema: JsonSchema,
  mapping: Readonly<Record<string, string>> | undefined,
): FittedNames | undefined {
  const renamed: [string, string][] = []
  for (const given of Object.keys(args)) {
    const used = fittingName(given, schema, mapping)
    if (used !== given) renamed.push([given, used])
  }
  return renamed.length === 0 ? undefined : rename(args, renamed)
}

function fittingName(
  given: string,
  schema: JsonSchema,
  mapping: Readonly<Record<string, string>> | undefined,
): string {
  const { names, byFold, isNameMap } = namingOf(schema)
  // It says nothing about names: only the rule of the specification is left.
  const isSilent = names.size === 0 && !isNameMap
  const mapped = mapping && Object.hasOwn(mapping, given) ? mapping[given] : undefined
  if (mapped !== undefined && (isSilent || names.has(mapped))) return mapped
  if (names.has(given)) return given
  if (!isSilent) return byFold.get(foldedName(given)) ?? given
  const camel = toCamelCase(given)
  // No argument is called what every object has.
  return camel in Object.prototype ? given : camel
}

interface Naming {
  names: ReadonlySet<string>
  /** Names by what is left of them without case, `_` and `-`; none that several have in common. */
  byFold: ReadonlyMap<string, string | undefined>
  /** It takes names that it does not list. */
  isNameMap: boolean
}

const namings = new WeakMap<JsonSchema, Naming>()

/** What a schema says about names; worked out once. */
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

/** A name without case, `_` and `-`: `player_id`, `playerID` and `player-id` are one. */
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

/** snake_case as camelCase; names of any other kind stay. */
function toCamelCase(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return name
  const [first = '', ...words] = name.split('_')
  return first + words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** `{device_name: "Switch One"} → {deviceName: "Switch One"}`, as it is logged. */
export function describeRenaming(before: Record<string, unknown>, after: Record<string, unknown>): string {
  return `${braces(before)} → ${braces(after)}`
}

function braces(args: Record<string, unknown>): string {
  return `{${Object.entries(args)
    .map(([name, value]) => `${name}: ${isObjectLike(value) ? '…' : JSON.stringify(value)}`)
    .join(', ')}}`
}
