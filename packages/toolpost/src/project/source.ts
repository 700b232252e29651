import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as jsonc from 'jsonc-parser'
import { joinPlace } from '../schema/explain.ts'
import { ConfigError } from './config.ts'

export type ConfigPath = readonly (string | number)[]

/** What is wrong, and where; `key` is one that does not belong there. */
export type Problem = { path: ConfigPath; problem: string; key?: string }

const SYNTAX = { allowTrailingComma: true }

/** `undefined` if the file does not exist. Throws a ConfigError if it cannot be read. */
export function readText(file: string, path = file): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new ConfigError(file, '', `cannot be read: ${message}`, { cause })
  }
}

export type ConfigSource = ReturnType<typeof configSource>

/** A configuration file, with the positions of everything in it. Throws a ConfigError if it is not JSON with comments. */
export function configSource(file: string, given: string, path = resolve(file), isIncluded = false) {
  const text = given.replace(/^\ufeff/, '')
  const at = (offset: number) => {
    const { line, column } = positionIn(text, offset)
    return `${file}:${line}:${column}`
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const problem = jsonProblem(text, SYNTAX)
    if (problem) throw new ConfigError(at(problem.offset), '', `is not JSON: ${problem.words}`)
    value = jsonc.parse(text, [], SYNTAX)
  }
  return {
    file,
    path,
    isIncluded,
    value,
    /** An error at a value, or at the part of its path that exists. */
    error({ path, problem, key }: Problem, options?: ErrorOptions): ConfigError {
      let node = jsonc.parseTree(text, [], SYNTAX)
      for (const part of key === undefined ? path : [...path, key]) {
        const child = node && jsonc.findNodeAtLocation(node, [node.type === 'array' ? Number(part) : part])
        if (!child) break
        node = child
      }
      const offset = (key === undefined ? node : node?.parent)?.offset ?? 0
      return new ConfigError(at(offset), placeOf(path), problem, options)
    },
  }
}

export function placeOf(path: ConfigPath): string {
  return path.map(String).reduce(joinPlace, '')
}

/** Why a text is not JSON, and where it breaks; `undefined` if it is JSON. */
function jsonProblem(text: string, options?: jsonc.ParseOptions) {
  const errors: jsonc.ParseError[] = []
  try {
    jsonc.parseTree(text, errors, options)
  } catch {
    // The parser is recursive.
    return { words: 'nested too deeply', offset: 0 }
  }
  const [{ error, offset } = {}] = errors
  if (error === undefined || offset === undefined) return undefined
  const words = jsonc.printParseErrorCode(error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return { words: words.toLowerCase(), offset }
}

function positionIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
