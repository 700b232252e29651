import { type ParseError, type ParseOptions, parseTree, printParseErrorCode } from 'jsonc-parser'

export interface JsonProblem {
  words: string
  offset: number
}

/** Why a text is not JSON, and where it breaks; `undefined` if it is JSON. */
export function jsonProblem(text: string, options?: ParseOptions): JsonProblem | undefined {
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
