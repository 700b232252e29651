import { isRecord } from '../runtime/guards.ts'

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
  const inputs = list.flatMap(each => readInput(each, file) ?? [])
  return new Map(inputs.map(input => [input.id, input]))
}

function readInput(value: unknown, file: string): ConfigInput | undefined {
  if (!isRecord(value) || typeof value.id !== 'string' || value.id === '') return undefined
  const { id, description, command, password } = value
  return {
    id,
    key: `${file}#${id}`,
    variable: variableOf(id),
    description:
      textIn(description) ?? (textIn(command) === undefined ? id : `${id} (${command} in VS Code)`),
    isSecret: password === true,
    suggestion: textIn(value.default),
    options: Array.isArray(value.options) ? value.options.flatMap(optionOf) : [],
  }
}

/** `perplexity-key` is answered by `TOOLPOST_INPUT_PERPLEXITY_KEY`. */
function variableOf(id: string): string {
  return `TOOLPOST_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

/** An option is a string, or a value with a label. */
function optionOf(option: unknown): string[] {
  const text = textIn(isRecord(option) ? option.value : option)
  return text === undefined ? [] : [text]
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
