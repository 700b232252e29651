import { isRecord } from '../util/guards.ts'

/** A value that VS Code asks for once: one of the `inputs`, used as `${input:id}`. */
export interface ConfigInput {
  id: string
  /** Identifies the input across reloads: file and id. */
  key: string
  /** The environment variable that answers it: `TOOLPOST_INPUT_PERPLEXITY_KEY` for `perplexity-key`. */
  variable: string
  description: string
  /** Not shown while it is typed, nor in a log. */
  isSecret: boolean
  /** Used if the answer is empty. */
  suggestion: string | undefined
  /** The only valid answers; any if empty. */
  options: readonly string[]
}

/** The inputs of a file, by id; malformed ones are left out. */
export function inputsIn(value: unknown, file: string): ReadonlyMap<string, ConfigInput> {
  const inputs = (Array.isArray(value) ? value : []).filter(isRecord).map((input): ConfigInput => {
    const { command, options } = input
    const id = textIn(input.id) ?? ''
    return {
      id,
      key: `${file}#${id}`,
      variable: `TOOLPOST_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`,
      description: textIn(input.description) ?? (command ? `${id} (${command} in VS Code)` : id),
      isSecret: input.password === true,
      suggestion: textIn(input.default),
      // An option is a string, or a value with a label.
      options: [options ?? []].flat().flatMap(each => textIn(isRecord(each) ? each.value : each) ?? []),
    }
  })
  return new Map(inputs.map(input => [input.id, input]))
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
