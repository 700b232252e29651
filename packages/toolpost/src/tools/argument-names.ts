/*
 * Argument names of MCP tools.
 *
 * Models and LangChain code write snake_case, many MCP servers take camelCase, and some the reverse.
 * Does an adapter bridge that by itself? Tested against the real @langchain/mcp-adapters 1.1 on a real
 * stdio server (mcp/adapter.test.ts, [E09]): it does not; `device_name` reaches a server that wants `deviceName`
 * as `device_name` and is refused. So this normalisation stays. docs/decisions/2026-11-15-argument-names.md
 */
import { isObjectLike } from '../runtime/guards.ts'
import { isNameMap, type JsonSchema, knownNames } from '../schema/json-schema.ts'

/** For each tool: given name → name that the server takes. */
export type ParameterNames = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface FittedNames {
  args: Record<string, unknown>
  /** `[given, used]` pairs that differ. */
  renamed: [string, string][]
  /** Given names whose value gave way to an argument that already had the right name. */
  lost: string[]
}

/** Renames the arguments along the mapping, then along the schema. Gives `undefined` if nothing changes. */
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
  if (mapping && Object.hasOwn(mapping, given)) return mapping[given] as string
  const known = knownNames(schema)
  if (known.has(given)) return given
  if (!given.includes('_')) {
    const snake = toSnakeCase(given)
    return known.has(snake) ? snake : given
  }
  const camel = toCamelCase(given)
  if (known.has(camel)) return camel
  // A map takes names of any style, and no argument is called what every object has.
  return isNameMap(schema) || camel in Object.prototype ? given : camel
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

function toCamelCase(name: string): string {
  return name.replace(/(?<=[^_])_+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function toSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, letter => `_${letter}`).toLowerCase()
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
