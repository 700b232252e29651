// The names MCP servers expect: @langchain/mcp-adapters passes on others ([E09]), docs/decisions/2026-11-15-argument-names.md
import { safeValue } from '../logging/safe-value.ts'
import { foldedName } from '../schema/explain.ts'
import { declaredNames, type JsonSchema, requiredOf, schemasOfPart } from '../schema/json-schema.ts'
import type { ParameterNames } from '../tools/tool-manager.ts'
import { grouped, isObjectLike, isRecord, ownValue } from '../util/guards.ts'
import { packageJson } from '../util/package-root.ts'
import type { CallContext } from './context.ts'
import type { Plan } from './fit.ts'
import type { Arguments } from './repair.ts'

/** By tool: argument names that no rule can guess, as callers write them → as servers expect them. */
let wellKnownNames: ParameterNames | undefined

/** Arguments under the names that the tool's server expects: by the mappings of the tool, then by the schema at any depth. */
export function withServerNames(args: Arguments, { mcp, services }: CallContext, plan: Plan): Arguments {
  const { top, schema: root, tool } = plan
  const configured = ownValue(mcp?.parameterNames ?? {}, mcp?.name ?? '')
  wellKnownNames ??= packageJson('data/argument-names.json') as ParameterNames
  const wellKnown = ownValue(wellKnownNames, mcp?.name ?? '')
  const lost: string[] = []

  const { names, isSilent } = namingOf(top)
  const mapped = (mapping: ParameterNames[string] | undefined, given: string) => {
    const name = mapping && ownValue(mapping, given)
    return name !== undefined && (isSilent || names.has(name)) ? name : undefined
  }
  const topName = (given: string) =>
    mapped(configured, given) ??
    (names.has(given) ? given : mapped(wellKnown, given)) ??
    (isSilent ? toCamelCase(given) : nameByFold(given, top))

  /** The value itself if nothing changes. */
  function fit(value: object, schemas: readonly JsonSchema[], nameOf: (given: string) => string): object {
    const named = isRecord(value) ? renamed(value, nameOf, lost) : value
    const items = Array.isArray(value) ? schemasOfPart(schemas, '0', root) : undefined
    let result = named as Arguments
    for (const [key, entry] of Object.entries(named)) {
      if (!isObjectLike(entry)) continue
      const inner = items ?? schemasOfPart(schemas, key, root)
      const fitted = fit(entry, inner, given => nameByFold(given, inner))
      if (fitted === entry) continue
      if (result === named) result = (Array.isArray(named) ? [...named] : { ...named }) as Arguments
      result[key] = fitted
    }
    return result
  }

  const fitted = fit(args, top, topName) as Arguments
  if (fitted === args) return args
  services.logger.info({ tool: tool.name }, `Argument names: ${shown(args)} → ${shown(fitted)}`)
  for (const argument of lost)
    services.logger.warn({ tool: tool.name, argument }, 'Argument dropped: another one already has that name')
  return fitted
}

const namings = new WeakMap<readonly JsonSchema[], ReturnType<typeof readNaming>>()
const OTHER_NAMES = ['patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames']

/** What the schemas of a value say about names; read once. */
export function namingOf(schemas: readonly JsonSchema[]) {
  const naming = namings.get(schemas) ?? readNaming(schemas)
  namings.set(schemas, naming)
  return naming
}

/** Their names, also by folded form; whether they accept names that they do not list; whether they say nothing about names. */
function readNaming(schemas: readonly JsonSchema[]) {
  const names = new Set([...declaredNames(schemas), ...schemas.flatMap(requiredOf)])
  const isNameMap = schemas.some(each => OTHER_NAMES.some(keyword => isRecord(each[keyword])))
  return { names, byFold: grouped(names, foldedName), isNameMap, isSilent: names.size === 0 && !isNameMap }
}

/** A name that differs from a single declared one only in case, `_` and `-` becomes that one. */
function nameByFold(given: string, schemas: readonly JsonSchema[]): string {
  const [name = given, ...others] = namingOf(schemas).byFold.get(foldedName(given)) ?? []
  return others.length === 0 ? name : given
}

/** A copy with other names, or the values themselves if all names stay. An exact name wins over one that would become it. */
function renamed(values: Arguments, nameFor: (given: string) => string, lost: string[]): Arguments {
  const targets = Object.keys(values).map(given => [given, nameFor(given)] as const)
  const taken = new Set(targets.filter(([given, used]) => given === used).map(([given]) => given))
  if (taken.size === targets.length) return values
  const entries: [string, unknown][] = []
  for (const [given, used] of targets) {
    if (used !== given && taken.has(used)) lost.push(given)
    else entries.push([used, values[given]])
    taken.add(used)
  }
  return Object.fromEntries(entries)
}

/** snake_case to camelCase; any other name is unchanged, and none becomes that of an inherited property. */
function toCamelCase(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return name
  const camel = name.replace(/(?!^)_+([a-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())
  return camel in Object.prototype ? name : camel
}

/** For the log: `{deviceName: "Switch One"}`. */
function shown(args: Arguments): string {
  const entries = Object.entries(safeValue(args) as Arguments)
  const text = ([name, value]: [string, unknown]) =>
    `${name}: ${isObjectLike(value) ? '…' : JSON.stringify(value)}`
  return `{${entries.map(text).join(', ')}}`
}
