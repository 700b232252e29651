import { findNodeAtLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser'
import { joinPlace } from '../schema/explain-errors.ts'
import { ConfigError } from './config.ts'
import { jsonProblem, positionIn } from './json-problem.ts'

/** The way to a value: keys, and indexes of lists. */
export type ConfigPath = readonly (string | number)[]

const SYNTAX = { allowTrailingComma: true }
/** `~/.claude.json` also holds what was said: reading that with its places would hold up everything. */
const LONG_TEXT = 1_000_000
const MAX_LEVELS = 200

/** The text of a configuration, which knows where everything stands in it. */
export class ConfigSource {
  readonly value: unknown
  readonly #file: string
  readonly #text: string
  /** Of a long file, made only for a mistake: it costs many times what reading does. */
  #tree: Node | undefined

  /** `file` is as the person named it. Throws a ConfigError if the text is not JSON; comments are allowed. */
  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text.replace(/^\ufeff/, '')
    this.value = this.#plainValue() ?? this.#read()
  }

  /** `undefined` if it is not JSON without comments, or short: then it is read with its places. */
  #plainValue(): unknown {
    if (this.#text.length < LONG_TEXT) return undefined
    try {
      const value = JSON.parse(this.#text)
      return isDeeper(value, MAX_LEVELS) ? undefined : value
    } catch {
      return undefined
    }
  }

  #read(): unknown {
    const problem = jsonProblem(this.#text, SYNTAX)
    if (problem) throw new ConfigError(this.#position(problem.offset), '', `is not JSON: ${problem.words}`)
    this.#tree = parseTree(this.#text, [], SYNTAX)
    return this.#tree && getNodeValue(this.#tree)
  }

  /** A mistake at a value, or at what there is of the way to it; `key` is one that does not belong there. */
  error(
    path: ConfigPath,
    problem: string,
    { key, ...options }: ErrorOptions & { key?: string | undefined } = {},
  ): ConfigError {
    const node = key === undefined ? this.#find(path) : this.#find([...path, key])?.parent
    const place = path.map(String).reduce(joinPlace, '')
    return new ConfigError(this.#position(node?.offset ?? 0), place, problem, options)
  }

  #find(path: ConfigPath): Node | undefined {
    this.#tree ??= parsed(this.#text)
    let node = this.#tree
    for (const part of path) {
      const child = node && findNodeAtLocation(node, [node.type === 'array' ? Number(part) : part])
      node = child ?? node
      if (!child) break
    }
    return node
  }

  /** `toolpost.json:3:7`, as editors and terminals understand it. */
  #position(offset: number): string {
    const { line, column } = positionIn(this.#text, offset)
    return `${this.#file}:${line}:${column}`
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1))
}

function parsed(text: string): Node | undefined {
  try {
    return parseTree(text, [], SYNTAX)
  } catch {
    // Nested too deeply for a parser that calls itself: then a mistake has no place.
    return undefined
  }
}
