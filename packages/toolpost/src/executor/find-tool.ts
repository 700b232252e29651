import { distance } from 'fastest-levenshtein'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Failure, unknownTool } from './failure.ts'

const MAX_SUGGESTIONS = 3
/** A name from a model can be anything; comparing a long one with a large catalog would take too long. */
const MAX_COMPARED_LENGTH = 64

/** Stage 1: the tool of that name, or `unknown_tool` with the names that come near it. */
export function findTool(tools: ToolManager, name: string, among?: readonly Tool[]): Tool | Failure {
  const offered = among?.find(tool => tool.name === name)
  if (offered) return offered
  return (
    tools.findTool(name) ??
    unknownTool(
      name,
      similarNames(
        name,
        tools.getTools().map(tool => tool.name),
      ),
    )
  )
}

/** The names nearest to a wrong one, best first; none if nothing resembles it. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const wanted = comparable(name)
  if (wanted === '' || wanted.length > MAX_COMPARED_LENGTH) return []
  return names
    .map(candidate => ({ candidate, score: unlikeness(wanted, comparable(candidate)) }))
    .filter(({ score }) => score <= 0.4)
    .sort((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate)
}

/** 0 for the same, 1 for nothing in common; a name that contains the other is near. */
function unlikeness(wanted: string, candidate: string): number {
  const contained = wanted.length >= 3 && (candidate.includes(wanted) || wanted.includes(candidate))
  const relative = distance(wanted, candidate) / Math.max(wanted.length, candidate.length, 1)
  return contained ? Math.min(relative, 0.3) : relative
}

function comparable(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, '')
}
