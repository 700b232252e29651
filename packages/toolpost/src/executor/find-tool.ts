import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../runtime/has-swap.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Failure, unknownTool } from './failure.ts'
import type { RunOptions } from './options.ts'

const MAX_SUGGESTIONS = 3
/** Names can be anything: longer ones are not compared. */
const MAX_COMPARED_LENGTH = 64
/** How unlike a name may be that is still suggested. */
const MAX_UNLIKENESS = 0.4

/** Find: the tool of that name, among those that may be found, or `unknown_tool` with the names that come near. */
export function findTool(
  tools: ToolManager,
  name: string,
  { among, also }: Pick<RunOptions, 'among' | 'also'> = {},
): Tool | Failure {
  const extra = also?.find(each => each.name === name)
  if (extra) return extra
  const tool = tools.findTool(name)
  if (tool && (!among || isAmong(tool, among))) return tool
  return unknownTool(name, () => similarNames(name, among ?? tools.getTools()))
}

/** By name too: a tool that was offered may have been replaced since, when its server came back. */
function isAmong(tool: Tool, among: readonly Tool[]): boolean {
  return among.includes(tool) || among.some(offered => offered.name === tool.name)
}

interface Named {
  readonly name: string
}

/** The names nearest to a wrong one, best first; none if nothing resembles it. */
export function similarNames(name: string, named: readonly Named[]): string[] {
  const wanted = comparable(name)
  if (wanted.text === '') return []
  return named
    .map(candidate => ({ name: candidate.name, score: unlikeness(wanted, comparableNameOf(candidate)) }))
    .filter(({ score }) => score <= MAX_UNLIKENESS)
    .sort((a, b) => a.score - b.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(candidate => candidate.name)
}

/** 0 for the same, 1 for nothing in common; a name that contains the other is near. */
function unlikeness(wanted: Comparable, { text, letters }: Comparable): number {
  if (text === '') return 1
  const longer = Math.max(wanted.text.length, text.length)
  const shorter = Math.min(wanted.text.length, text.length)
  const contained = shorter >= 3 && (text.includes(wanted.text) || wanted.text.includes(text))
  // Every letter that the other has not is at least one change.
  const changes = Math.max(count(wanted.letters & ~letters), count(letters & ~wanted.letters))
  if (!contained && changes / longer > MAX_UNLIKENESS) return 1
  const relative = (hasSwap(wanted.text, text) ? 1 : distance(wanted.text, text)) / longer
  return contained ? Math.min(relative, 0.3 + relative / 10) : relative
}

/** A name without case and separators, and its letters as bits: most names need not be compared further. */
interface Comparable {
  text: string
  letters: number
}

const known = new WeakMap<Named, Comparable>()

function comparableNameOf(named: Named): Comparable {
  const name = known.get(named) ?? comparable(named.name)
  known.set(named, name)
  return name
}

function comparable(name: string): Comparable {
  const text = name.length > MAX_COMPARED_LENGTH ? '' : name.toLowerCase().replace(/[\s_.-]/g, '')
  let letters = 0
  for (let at = 0; at < text.length; at++) letters |= 1 << text.charCodeAt(at)
  return { text, letters }
}

/** How many bits are set. */
function count(bits: number): number {
  let left = bits
  let ones = 0
  for (; left !== 0; ones++) left &= left - 1
  return ones
}
