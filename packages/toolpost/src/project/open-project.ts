import { ConfigError } from './config.ts'
import { createProject, type Project, type ProjectOptions } from './project.ts'
import { DEFAULT_CONFIG_FILE, resolveConfig } from './resolve.ts'

export interface OpenProjectOptions extends Omit<ProjectOptions, 'read'> {
  /** The configuration; `toolpost.json` in the current folder if left out, or else the built-in example. */
  file?: string | undefined
}

/** Reads a configuration and creates the project it describes. Rejects, before anything runs, if it is wrong. */
export async function openProject({ file, ...options }: OpenProjectOptions): Promise<Project> {
  const resolved = await resolveConfig(file)
  const read = async () => {
    const again = await resolveConfig(file)
    // A file that disappeared is a mistake, not a request for the built-in example.
    if (project.file !== undefined && again.file === undefined)
      throw new ConfigError(DEFAULT_CONFIG_FILE, '', 'file not found')
    return again
  }
  const project = createProject(resolved, { ...options, read })
  return project
}
