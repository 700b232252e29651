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
    const lines = text.slice(0, offset).split('\n')
    return `${file}:${lines.length}:${(lines.at(-1) ?? '').length + 1}`
  }
  const malformed = (words: string, offset: number) =>
    new ConfigError(at(offset), '', `is not JSON: ${words}`)
  const value = parseJson(text, malformed)
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

/** The value of a JSON text, in which comments and trailing commas are allowed. */
function parseJson(text: string, malformed: (words: string, offset: number) => ConfigError): unknown {
  const errors: jsonc.ParseError[] = []
  let value: unknown
  try {
    value = jsonc.parse(text, errors, SYNTAX)
  } catch {
    // The parser is recursive.
    throw malformed('nested too deeply', 0)
  }
  const [first] = errors
  if (!first) return value
  const words = jsonc.printParseErrorCode(first.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
  throw malformed(words.toLowerCase(), first.offset)
}
