import { distance } from 'fastest-levenshtein'
import { hasSwap } from '../runtime/has-swap.ts'
import { letterSet, lettersMissing } from '../runtime/letter-set.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import { type Failure, unknownTool } from './failure.ts'
import type { RunOptions } from './options.ts'

const MAX_SUGGESTIONS = 3
/** Names can be anything, so longer ones are not compared. */
const MAX_COMPARED_LENGTH = 64
/** How different a suggested name may be. */
const MAX_UNLIKENESS = 0.4

/** Find: the tool with that name among those that may be found, or `unknown_tool` with similar names. */
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

/** Also by name: an offered tool may have been replaced since, when its server reconnected. */
function isAmong(tool: Tool, among: readonly Tool[]): boolean {
  return among.includes(tool) || among.some(offered => offered.name === tool.name)
}

interface Named {
  readonly name: string
}

/** The names most similar to a wrong one, best first; empty if nothing resembles it. */
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

/** 0 for identical, 1 for nothing in common; names that contain each other count as close. */
function unlikeness(wanted: Comparable, { text, letters }: Comparable): number {
  if (text === '') return 1
  const longer = Math.max(wanted.text.length, text.length)
  const shorter = Math.min(wanted.text.length, text.length)
  const contained = shorter >= 3 && (text.includes(wanted.text) || wanted.text.includes(text))
  const changes = Math.max(lettersMissing(wanted.letters, letters), lettersMissing(letters, wanted.letters))
  if (!contained && changes / longer > MAX_UNLIKENESS) return 1
  const relative = (hasSwap(wanted.text, text) ? 1 : distance(wanted.text, text)) / longer
  return contained ? Math.min(relative, 0.3 + relative / 10) : relative
}

/** A name without case and separators, and its letters as a bit set, which rules out most names cheaply. */
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
  return { text, letters: letterSet(text) }
}
