import { distance } from 'fastest-levenshtein'
import { foldedName } from '../schema/explain.ts'
import type { Tool } from '../tools/tool.ts'
import type { CallContext } from './context.ts'
import type { Failure } from './failure.ts'

/** Names can be anything, so longer ones are not compared. */
const MAX_COMPARED_LENGTH = 64
/** How different a suggested name may be, from 0 for identical to 1. */
const MAX_NAME_DISTANCE = 0.4

/** Find: puts the tool into the context; otherwise `unknown_tool` with similar names. */
export function find(context: CallContext): Failure | undefined {
  const { name, options, services } = context
  const { among, also } = options
  const extra = also?.find(each => each.name === name)
  const tool = extra ?? services.tools.findTool(name)
  // By name: an offered tool may have been replaced since, when its server reconnected.
  if (!tool || (!extra && among && !among.some(offered => offered.name === tool.name))) {
    const suggestions = similarNames(name, among ?? services.tools.getTools())
    return { code: 'unknown_tool', error: `Tool '${name}' not found`, diagnosis: { suggestions } }
  }
  context.tool = tool
  const origin = services.tools.originOf(tool)
  if (!origin) return undefined
  services.tools.keepNames([tool])
  context.mcp = origin
  context.server = origin.server
  context.originalName = origin.name
  return undefined
}

/** Why a call that waited may no longer run: its tool is gone, or another one than it was. */
export function redefined({ name, tool, options, services }: CallContext): Failure | undefined {
  const now = options.also?.find(each => each.name === name) ?? services.tools.findTool(name)
  if (now === tool || (now && tool && definition(now) === definition(tool))) return undefined
  return { code: 'denied', error: `Tool '${name}' was denied: its definition changed while the call waited` }
}

const definition = ({ name, description, schema, readOnly, destructive, idempotent }: Tool) =>
  JSON.stringify([name, description, schema, readOnly, destructive, idempotent])

/** The names most similar to a wrong one, best first; empty if nothing resembles it. */
export function similarNames(name: string, named: readonly { readonly name: string }[]): string[] {
  const wanted = foldedName(name)
  const scored = named.map(each => ({ name: each.name, score: nameDistance(wanted, foldedName(each.name)) }))
  const near = scored.filter(({ score }) => score <= MAX_NAME_DISTANCE).sort((a, b) => a.score - b.score)
  return near.slice(0, 3).map(each => each.name)
}

/** 0 for identical, 1 for nothing in common; names that contain each other count as close. */
function nameDistance(wanted: string, name: string): number {
  const [shorter = 0, longer = 0] = [wanted.length, name.length].sort((a, b) => a - b)
  if (shorter === 0 || longer > MAX_COMPARED_LENGTH) return 1
  const relative = distance(wanted, name) / longer
  const isContained = shorter >= 3 && (name.includes(wanted) || wanted.includes(name))
  return isContained ? Math.min(relative, 0.3 + relative / 10) : relative
}
