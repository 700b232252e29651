import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { joinPlace } from '../schema/explain.ts'
import { ConfigError } from './config.ts'

export type ConfigPath = readonly (string | number)[]

const SYNTAX = { allowTrailingComma: true }

/** The text of a configuration, with the positions of everything in it. */
export class ConfigSource {
  readonly value: unknown
  /** The name as the user gave it. */
  readonly file: string
  readonly #text: string

  /** Throws a ConfigError if the text is not JSON; comments are allowed. */
  constructor(file: string, text: string) {
    this.file = file
    this.#text = text.replace(/^\ufeff/, '')
    try {
      this.value = JSON.parse(this.#text)
    } catch {
      const problem = jsonProblem(this.#text, SYNTAX)
      if (problem) throw new ConfigError(this.#position(problem.offset), '', `is not JSON: ${problem.words}`)
      this.value = getNodeValue(parseTree(this.#text, [], SYNTAX) as Node)
    }
  }

  /** An error at a value, or at the part of its path that exists; `key` is one that does not belong there. */
  error(path: ConfigPath, problem: string, options: ErrorOptions & { key?: string } = {}): ConfigError {
    const { key } = options
    const node = key === undefined ? this.#find(path) : this.#find([...path, key])?.parent
    const place = path.map(String).reduce(joinPlace, '')
    return new ConfigError(this.#position(node?.offset ?? 0), place, problem, options)
  }

  #find(path: ConfigPath): Node | undefined {
    let node = parseTree(this.#text, [], SYNTAX)
    for (const part of path) {
      const child = node && findNodeAtLocation(node, [node.type === 'array' ? Number(part) : part])
      if (!child) break
      node = child
    }
    return node
  }

  /** `toolpost.json:3:7`, which editors and terminals understand. */
  #position(offset: number): string {
    const { line, column } = positionIn(this.#text, offset)
    return `${this.file}:${line}:${column}`
  }
}

/** Why a text is not JSON, and where it breaks; `undefined` if it is JSON. */
export function jsonProblem(
  text: string,
  options?: ParseOptions,
): { words: string; offset: number } | undefined {
  const errors: ParseError[] = []
  try {
    parseTree(text, errors, options)
  } catch {
    // The parser is recursive.
    return { words: 'nested too deeply', offset: 0 }
  }
  const [error] = errors
  const words = error && printParseErrorCode(error.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return error && { words: `${words}`.toLowerCase(), offset: error.offset }
}

/** The line and column of an offset, both starting at 1. */
export function positionIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
