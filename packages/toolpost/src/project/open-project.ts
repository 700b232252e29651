import { removeFromLogs } from '../logging/redact.ts'
import { ConfigError } from './config.ts'
import type { ConfigInput } from './inputs.ts'
import { Project } from './project.ts'
import type { ProjectOptions } from './project-options.ts'
import { DEFAULT_CONFIG_FILE } from './read.ts'
import { resolveConfig } from './resolve.ts'

export interface OpenProjectOptions extends Omit<ProjectOptions, 'read' | 'answer'> {
  /** The configuration; `toolpost.json` in the current folder if left out, or else the built-in example. */
  file?: string | undefined
  /** Asks a person for an input of a server (`inputs` of VS Code); `undefined` if there is no answer. */
  askInput?: ((input: ConfigInput) => Promise<string | undefined>) | undefined
}

/** Reads a configuration and creates the project it describes. Rejects, before anything runs, if it is wrong. */
export async function openProject({ file, askInput, ...options }: OpenProjectOptions): Promise<Project> {
  const answers = new Map<string, string>()
  let hadFile = false
  const read = async () => {
    const resolved = await resolveConfig(file, { answers })
    // A file that disappeared is a mistake, not a request for the built-in example.
    if (hadFile && resolved.file === undefined)
      throw new ConfigError(DEFAULT_CONFIG_FILE, '', 'file not found')
    hadFile = resolved.file !== undefined
    return resolved
  }
  const answer = async (input: ConfigInput) => {
    const value = await askInput?.(input)
    if (value === undefined) return false
    if (input.isSecret) removeFromLogs([value])
    answers.set(input.key, value)
    return true
  }
  return new Project(await read(), { ...options, read, answer })
}
