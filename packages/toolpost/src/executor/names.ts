/*
 * Argument names of MCP tools: models and LangChain code write snake_case, many MCP servers expect camelCase, and some the
 * reverse. The real @langchain/mcp-adapters passes them on unchanged ([E09] in tests/scenarios).
 * docs/decisions/2026-11-15-argument-names.md
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldedName } from '../schema/explain.ts'
import {
  declaredNames,
  type JsonSchema,
  requiredOf,
  schemasOfPart,
  withBranches,
} from '../schema/json-schema.ts'
import type { McpOrigin } from '../tools/tool-manager.ts'
import { grouped, isObjectLike, isRecord, ownValue } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'

export { foldedName }

type Values = Record<string, unknown>
type Mapping = Readonly<Record<string, string>> | undefined

interface FittedNames {
  args: Values
  /** Given names that were dropped because another argument already has the right name. */
  lost: string[]
}

/**
 * Renames arguments by the configured and the well-known mapping of a tool, then by the schema, also inside objects and
 * lists of objects. Returns `undefined` if nothing changes.
 */
export function fitArgumentNames(
  args: Values,
  schema: JsonSchema,
  { name: tool, parameterNames = {} }: Pick<McpOrigin, 'name' | 'parameterNames'>,
): FittedNames | undefined {
  const naming = namingOf(schema)
  const configured = ownValue(parameterNames, tool)
  const wellKnown = ownValue(wellKnownNames(), tool)
  const lost: string[] = []
  const top = renamed(args, given => fittingName(given, naming, configured, wellKnown), lost)
  const inner = fitInside(top, withBranches([schema], schema), { root: schema, lost, parts: new Map() })
  return inner === args ? undefined : { args: inner as Values, lost }
}

let fromData: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined

/** By tool: argument names that no rule can guess, as callers write them → as servers expect them. */
function wellKnownNames(): NonNullable<typeof fromData> {
  fromData ??= JSON.parse(readFileSync(join(packageRoot(), 'data', 'argument-names.json'), 'utf8'))
  return fromData as NonNullable<typeof fromData>
}

interface Part {
  schemas: readonly JsonSchema[]
  byFold: Naming['byFold']
}

interface Inside {
  root: JsonSchema
  lost: string[]
  /** What the schemas of a value say about its parts, by key; entries of a list have one key. */
  parts: Map<readonly JsonSchema[], Map<string, Part>>
}

/** Fits the names of nested objects to what their schemas declare. Returns the value itself if nothing changes. */
function fitInside(value: object, schemas: readonly JsonSchema[], inside: Inside): object {
  let fitted = value as Values
  for (const [key, entry] of Object.entries(value)) {
    if (!isObjectLike(entry)) continue
    const part = partOf(schemas, Array.isArray(value) ? '0' : key, inside)
    const named = isRecord(entry)
      ? renamed(entry, given => nameByFold(given, part.byFold), inside.lost)
      : entry
    const inner = fitInside(named, part.schemas, inside)
    if (inner === entry) continue
    if (fitted === value) fitted = (Array.isArray(value) ? [...value] : { ...value }) as Values
    fitted[key] = inner
  }
  return fitted
}

function partOf(schemas: readonly JsonSchema[], key: string, { root, parts }: Inside): Part {
  const known = parts.get(schemas) ?? new Map<string, Part>()
  parts.set(schemas, known)
  const before = known.get(key)
  if (before) return before
  const inner = schemasOfPart(schemas, key, root)
  const part = { schemas: inner, byFold: grouped(declaredNames(inner), foldedName) }
  known.set(key, part)
  return part
}

function fittingName(
  given: string,
  { names, byFold, isNameMap }: Naming,
  configured: Mapping,
  wellKnown: Mapping,
): string {
  // The schema says nothing about names: only the specification's rule is left.
  const isSilent = names.size === 0 && !isNameMap
  const mapped = (mapping: Mapping) => {
    const name = mapping && ownValue(mapping, given)
    return name !== undefined && (isSilent || names.has(name)) ? name : undefined
  }
  const chosen = mapped(configured) ?? (names.has(given) ? given : mapped(wellKnown))
  if (chosen !== undefined) return chosen
  if (!isSilent) return nameByFold(given, byFold)
  const camel = toCamelCase(given)
  // No argument has the name of an inherited property.
  return camel in Object.prototype ? given : camel
}

interface Naming {
  names: ReadonlySet<string>
  /** Names by their folded form. */
  byFold: ReadonlyMap<string, readonly string[]>
  /** Whether the schema accepts names it does not list. */
  isNameMap: boolean
}

const namings = new WeakMap<JsonSchema, Naming>()

/** What a schema says about names; computed once. */
export function namingOf(schema: JsonSchema): Naming {
  const before = namings.get(schema)
  if (before) return before
  const schemas = withBranches([schema], schema)
  const names = new Set([...declaredNames(schemas), ...schemas.flatMap(requiredOf)])
  const others = ['patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames']
  const isNameMap = schemas.some(each => others.some(keyword => isRecord(each[keyword])))
  const naming = { names, byFold: grouped(names, foldedName), isNameMap }
  namings.set(schema, naming)
  return naming
}

/** A name that differs from a single declared one only in case, `_` and `-` becomes that one. */
function nameByFold(given: string, byFold: Naming['byFold']): string {
  const fitting = byFold.get(foldedName(given)) ?? []
  return fitting.length === 1 && fitting[0] !== undefined ? fitting[0] : given
}

/** A copy with other names, or the values themselves if all names stay. An exact name wins over one that would become it. */
function renamed(values: Values, nameFor: (given: string) => string, lost: string[]): Values {
  const targets = Object.keys(values).map(given => [given, nameFor(given)] as const)
  if (targets.every(([given, used]) => given === used)) return values
  const taken = new Set(targets.filter(([given, used]) => given === used).map(([given]) => given))
  const entries: [string, unknown][] = []
  for (const [given, used] of targets) {
    if (used !== given && taken.has(used)) lost.push(given)
    else entries.push([used, values[given]])
    taken.add(used)
  }
  return Object.fromEntries(entries)
}

/** snake_case to camelCase; any other name is unchanged. */
function toCamelCase(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return name
  return name.replace(/(?!^)_+([a-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())
}

/** For the log: `{device_name: "Switch One"} → {deviceName: "Switch One"}`. */
export function describeRenaming(before: Values, after: Values): string {
  const shown = ([name, value]: [string, unknown]) =>
    `${name}: ${isObjectLike(value) ? '…' : JSON.stringify(value)}`
  const braces = (args: Values) => `{${Object.entries(args).map(shown).join(', ')}}`
  return `${braces(before)} → ${braces(after)}`
}
