import { isRecord } from '../util/guards.ts'

/** A value that VS Code asks for once: one of the `inputs`, used as `${input:id}`. */
export interface ConfigInput {
  id: string
  /** Identifies the input across reloads: file and id. */
  key: string
  /** The environment variable that answers it. */
  variable: string
  description: string
  /** Not shown while it is typed, nor in a log. */
  isSecret: boolean
  /** Used if the answer is empty. */
  suggestion: string | undefined
  /** The only valid answers; any if empty. */
  options: readonly string[]
}

const MAX_INPUTS = 200

/** The inputs of a file, by id; malformed ones are left out. */
export function inputsIn(value: unknown, file: string): ReadonlyMap<string, ConfigInput> {
  const list = Array.isArray(value) ? value.slice(0, MAX_INPUTS) : []
  const inputs = list.filter(each => isRecord(each) && typeof each.id === 'string' && each.id !== '')
  return new Map(inputs.map(each => [each.id, readInput(each, file)]))
}

function readInput(value: Record<string, unknown> & { id: string }, file: string): ConfigInput {
  const { id, command, options } = value
  const elsewhere = typeof command === 'string' ? `${id} (${command} in VS Code)` : id
  return {
    id,
    key: `${file}#${id}`,
    // `perplexity-key` is answered by `TOOLPOST_INPUT_PERPLEXITY_KEY`.
    variable: `TOOLPOST_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`,
    description: textIn(value.description) ?? elsewhere,
    isSecret: value.password === true,
    suggestion: textIn(value.default),
    // An option is a string, or a value with a label.
    options: (Array.isArray(options) ? options : []).flatMap(
      each => textIn(isRecord(each) ? each.value : each) ?? [],
    ),
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
