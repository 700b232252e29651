import { resolve } from 'node:path'
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

/** What is wrong, and where; `key` is one that does not belong there. */
export interface Problem {
  path: ConfigPath
  problem: string
  key?: string
}

const SYNTAX = { allowTrailingComma: true }

/** A configuration file, with the positions of everything in it. */
export class ConfigSource {
  readonly value: unknown
  /** The name as the user gave it. */
  readonly file: string
  readonly path: string
  readonly isIncluded: boolean
  readonly #text: string

  /** Throws a ConfigError if the text is not JSON; comments are allowed. */
  constructor(file: string, text: string, path = resolve(file), isIncluded = false) {
    this.file = file
    this.path = path
    this.isIncluded = isIncluded
    this.#text = text.replace(/^\ufeff/, '')
    try {
      this.value = JSON.parse(this.#text)
    } catch {
      const problem = jsonProblem(this.#text, SYNTAX)
      if (problem) throw new ConfigError(this.#position(problem.offset), '', `is not JSON: ${problem.words}`)
      this.value = getNodeValue(parseTree(this.#text, [], SYNTAX) as Node)
    }
  }

  /** An error at a value, or at the part of its path that exists. */
  error({ path, problem, key }: Problem, options?: ErrorOptions): ConfigError {
    let node = parseTree(this.#text, [], SYNTAX)
    for (const part of key === undefined ? path : [...path, key]) {
      const child = node && findNodeAtLocation(node, [node.type === 'array' ? Number(part) : part])
      if (!child) break
      node = child
    }
    const offset = (key === undefined ? node : node?.parent)?.offset ?? 0
    return new ConfigError(this.#position(offset), placeOf(path), problem, options)
  }

  /** `toolpost.json:3:7`, which editors and terminals understand. */
  #position(offset: number): string {
    const { line, column } = positionIn(this.#text, offset)
    return `${this.file}:${line}:${column}`
  }
}

export function placeOf(path: ConfigPath): string {
  return path.map(String).reduce(joinPlace, '')
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
