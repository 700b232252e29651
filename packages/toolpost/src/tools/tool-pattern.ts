import { fitsGlob } from '../runtime/glob.ts'
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
