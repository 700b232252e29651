import { findNodeAtLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser'
import { isObjectLike } from '../runtime/guards.ts'
import { joinPlace } from '../schema/explain.ts'
import { ConfigError } from './config.ts'
import { jsonProblem, positionIn } from './json-problem.ts'

/** The path to a value: object keys and array indexes. */
export type ConfigPath = readonly (string | number)[]

const SYNTAX = { allowTrailingComma: true }
/** `~/.claude.json` also contains chat history: parsing that with positions would block everything. */
const LONG_TEXT = 1_000_000
const MAX_LEVELS = 200

/** The text of a configuration, with the positions of everything in it. */
export class ConfigSource {
  readonly value: unknown
  readonly #file: string
  readonly #text: string
  /** For a long file, built only to report an error: it costs many times more than parsing alone. */
  #tree: Node | undefined

  /** `file` is the name as the user gave it. Throws a ConfigError if the text is not JSON; comments are allowed. */
  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text.replace(/^\ufeff/, '')
    this.value = this.#plainValue() ?? this.#read()
  }

  /** `undefined` if the text is short, or not plain JSON: then it is parsed with positions. */
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

  /** An error at a value, or at the part of its path that exists; `key` is one that does not belong there. */
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

  /** `toolpost.json:3:7`, which editors and terminals understand. */
  #position(offset: number): string {
    const { line, column } = positionIn(this.#text, offset)
    return `${this.#file}:${line}:${column}`
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isObjectLike(value)) return false
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1))
}

function parsed(text: string): Node | undefined {
  try {
    return parseTree(text, [], SYNTAX)
  } catch {
    // Nested too deeply for the recursive parser: the error has no position then.
    return undefined
  }
}
