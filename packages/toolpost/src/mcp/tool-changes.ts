import { isDeepStrictEqual } from 'node:util'
import { safeText } from '../logging/safe-value.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import type { McpToolDefinition } from './tool-definition.ts'

const MAX_SHOWN = 200

/** What changed in a tool's definition, one phrase per change. */
export function describeChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  if (isDeepStrictEqual(before, after)) return []
  const changes = [
    ...changed('title', before.title, after.title),
    ...changed('description', before.description, after.description),
    ...argumentChanges(before, after),
    ...annotationChanges(before, after),
    ...changed('output schema', before.outputSchema, after.outputSchema),
  ]
  return changes.length > 0 ? changes : ['input schema changed']
}

function argumentChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  const old = propertiesOf(before.inputSchema)
  const now = propertiesOf(after.inputSchema)
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...names].flatMap(name => {
    if (!Object.hasOwn(now, name)) return [`argument '${name}' removed`]
    if (!Object.hasOwn(old, name)) return [`argument '${name}' added: ${shown(now[name])}`]
    return [...changed(`argument '${name}'`, old[name], now[name]), ...requiredChange(name, before, after)]
  })
}

function requiredChange(name: string, before: McpToolDefinition, after: McpToolDefinition): string[] {
  const was = requiredOf(before.inputSchema).includes(name)
  const is = requiredOf(after.inputSchema).includes(name)
  return was === is ? [] : [`argument '${name}' is ${is ? 'now required' : 'no longer required'}`]
}

function annotationChanges(before: McpToolDefinition, after: McpToolDefinition): string[] {
  const old: Record<string, unknown> = { ...before.annotations }
  const now: Record<string, unknown> = { ...after.annotations }
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap(key =>
    changed(key, old[key], now[key]),
  )
}

function changed(what: string, before: unknown, after: unknown): string[] {
  return isDeepStrictEqual(before, after) ? [] : [`${what}: ${shown(before)} → ${shown(after)}`]
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : safeText(JSON.stringify(value) ?? String(value), MAX_SHOWN)
}
