import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonSchema, jsonSchemaOf, requiredOf } from '../schema/json-schema.ts'
import { CODE, typeText } from '../schema/signature.ts'
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
  const typeOf = (given: JsonSchema) => typeText(given, given, CODE)
  const schema = jsonSchemaOf(tool)
  const result = tool.outputSchema ? typeOf(tool.outputSchema) : 'unknown'
  const args = `args${requiredOf(schema).length === 0 ? '?' : ''}: ${typeOf(schema)}`
  const line = (tool.description ?? '').replace(/\s+/g, ' ').trim().slice(0, 1_000).replaceAll('*/', '*\\/')
  return `/** ${line} */ ${JSON.stringify(name)}(${args}, options?: RunOptions): Promise<${result}>`
}

/** `control_zwave_device` becomes `controlZwaveDevice`. */
function identifier(name: string): string {
  const words = name.split(/[^\p{L}\p{N}$]+/u).filter(part => part !== '')
  const joined = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return joined === '' ? 'tool' : joined.charAt(0).toLowerCase() + joined.slice(1)
}
