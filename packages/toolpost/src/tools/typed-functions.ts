import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonSchema, jsonSchemaOf, propertiesOf, requiredOf, resolveRef } from '../schema/json-schema.ts'
import { isRecord, ownValue } from '../util/guards.ts'
import { packageRoot } from '../util/package-root.ts'
import type { Tool } from './tool.ts'
import type { ToolManager } from './tool-manager.ts'

/** A module in TypeScript with a typed function for every tool, grouped by server. */
export function codeFor(tools: ToolManager): string {
  /** By server, in order; those without one are `local`. */
  const names: Record<string, Record<string, string>> = {}
  const types: Record<string, string> = {}
  for (const tool of tools.getTools()) {
    const origin = tools.originOf(tool)
    const server = identifier(origin?.server ?? 'local')
    const group = names[server] ?? {}
    let name = identifier(origin?.name ?? tool.name)
    while (Object.hasOwn(group, name)) name += '_'
    names[server] = { ...group, [name]: tool.name }
    types[server] = `${types[server] ?? ''}    ${functionType(name, tool)}\n`
  }
  const groups = Object.entries(types).map(([group, lines]) => `  ${JSON.stringify(group)}: {\n${lines}  }`)
  const template = readFileSync(join(packageRoot(), 'data', 'codegen.template.txt'), 'utf8')
  // The types first: descriptions are theirs, and the names come before them in the template.
  const withTypes = template.replace('{{types}}', () => groups.join('\n'))
  return withTypes.replace('{{names}}', () => JSON.stringify(names, null, 2))
}

/** With the description as a comment that its own text cannot close. */
function functionType(name: string, tool: Tool): string {
  const schema = jsonSchemaOf(tool)
  const result = tool.outputSchema ? typescriptType(tool.outputSchema) : 'unknown'
  const args = `args${requiredOf(schema).length === 0 ? '?' : ''}: ${typescriptType(schema)}`
  const line = (tool.description ?? '').replace(/\s+/g, ' ').trim().slice(0, 1_000).replaceAll('*/', '*\\/')
  return `/** ${line} */ ${JSON.stringify(name)}(${args}, options?: RunOptions): Promise<${result}>`
}

/** `control_zwave_device` becomes `controlZwaveDevice`. */
function identifier(name: string): string {
  const words = name.split(/[^\p{L}\p{N}$]+/u).filter(part => part !== '')
  const joined = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return joined === '' ? 'tool' : joined.charAt(0).toLowerCase() + joined.slice(1)
}

const MAX_NESTING = 12
/** How many types one schema may spell out; otherwise nested alternatives would multiply. */
const MAX_TYPES = 2_000

/** A schema as a TypeScript type. Parts that cannot be expressed, or exceed the limits, become `unknown`. */
function typescriptType(root: JsonSchema): string {
  let typesLeft = MAX_TYPES
  const typeOf = (given: unknown, nesting: number): string => {
    const schema = resolveRef(given, root)
    if (typesLeft-- <= 0 || nesting > MAX_NESTING || !isRecord(schema)) return 'unknown'
    const { enum: choices, const: only, type, anyOf, oneOf = anyOf, allOf, items } = schema
    const inner = (each: unknown) => typeOf(each, nesting + 1)
    if (only !== undefined) return literal(only)
    if (Array.isArray(choices)) return joined(choices.map(literal), ' | ')
    // Alternatives next to properties narrow them.
    const parts = type === 'object' || isRecord(schema.properties) ? [objectType(schema, inner)] : []
    if (Array.isArray(oneOf)) parts.push(joined(oneOf.map(inner), ' | '))
    if (Array.isArray(allOf)) parts.push(...allOf.map(inner))
    if (parts.length > 0) return joined(parts, ' & ')
    const types = [type].flat().map(each => {
      if (each === 'array') return `(${inner(items)})[]`
      if (each === 'integer') return 'number'
      return /^(string|number|boolean|null)$/.exec(String(each))?.[0] ?? 'unknown'
    })
    return joined(types, ' | ')
  }
  return typeOf(root, 0)
}

function objectType(schema: JsonSchema, inner: (schema: unknown) => string): string {
  const [properties, required] = [propertiesOf(schema), requiredOf(schema)]
  const fields = [...new Set([...Object.keys(properties), ...required])].map(name => {
    const type = inner(ownValue(properties, name))
    return `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${type}`
  })
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  const { additionalProperties: others } = schema
  return `Record<string, ${others === false ? 'never' : inner(others)}>`
}

function joined(types: readonly string[], separator: string): string {
  const [first = 'never', ...more] = new Set(types)
  return more.length === 0 ? first : [first, ...more].map(type => `(${type})`).join(separator)
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : (JSON.stringify(value) ?? 'unknown')
}
