import { isRecord } from '../util/guards.ts'
import { fitsGlob } from '../util/text.ts'
import type { Tool } from './tool.ts'

/**
 * Whether a pattern matches a tool. A tool of an MCP server matches by two names, its registered one and
 * `<server>__<tool>`, so that `fs__*` means every tool of `fs`, whatever other servers there are.
 */
export function fitsTool(pattern: string, { name }: Tool, server: string | undefined): boolean {
  return fitsName(pattern, name, server)
}

/** The same for anything else that a server offers: a prompt by its name, a resource by its URI. */
export function fitsName(pattern: string, name: string, server: string | undefined): boolean {
  if (fitsGlob(name, pattern)) return true
  const prefix = `${server}__`
  return server !== undefined && !name.startsWith(prefix) && fitsGlob(`${prefix}${name}`, pattern)
}

/** A call whose tool was found: a `CallContext`. */
type NamedCall = {
  tool?: Tool | undefined
  server?: string | undefined
  originalName?: string | undefined
  args?: unknown
}

/**
 * Whether a rule's pattern matches a call by any name of its tool: the registered one, the server's own, `server__tool`,
 * and the tool that a server's own `call_tool` is asked to call. A rule that allows (`grants`) matches only what this
 * program named: any server may choose a name that is allowed elsewhere.
 */
export function fitsCall(pattern: string, call: NamedCall, { grants = false } = {}): boolean {
  const { tool, server, originalName } = call
  if (!tool) return false
  // Only then: reading the arguments of a call makes a copy.
  const args = (originalName ?? tool.name) === 'call_tool' ? call.args : undefined
  const called = isRecord(args) ? args.name : undefined
  const names = grants ? [tool.name] : [tool.name, originalName, called]
  return names.some(name => typeof name === 'string' && fitsName(pattern, name, server))
}
