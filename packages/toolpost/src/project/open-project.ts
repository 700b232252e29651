import { dirname } from 'node:path'
import { builtInExample } from '../config/built-in-example.ts'
import { checkClients } from '../config/check-clients.ts'
import type { ToolpostConfig } from '../config/config.ts'
import type { ConfigSource } from '../config/config-source.ts'
import { fillEnvironment } from '../config/fill-environment.ts'
import { readConfig } from '../config/read-config.ts'
import { Project } from './project.ts'
import type { ProjectOptions } from './project-options.ts'

export interface OpenProjectOptions extends Omit<ProjectOptions, 'read'> {
  /** The configuration; `toolpost.json` in the current folder if left out, or else the built-in example. */
  file?: string | undefined
}

/** What a configuration says, with the environment filled in. */
export interface Description {
  config: ToolpostConfig
  /** Where it was read from; `undefined` for the built-in example. */
  file: string | undefined
  /** Its text, which knows where a mistake stands. */
  source?: ConfigSource | undefined
  /** By server: why it cannot be started as it is configured. */
  brokenServers: Readonly<Record<string, string>>
}

/** Reads a configuration and makes what it describes. Rejects, before anything runs, if it is wrong. */
export async function openProject({ file, ...options }: OpenProjectOptions): Promise<Project> {
  const read = () => describe(file)
  return new Project(await read(), { ...options, read })
}

async function describe(file: string | undefined): Promise<Description> {
  const loaded = await readConfig(file)
  if (!loaded) return { config: builtInExample(), file: undefined, brokenServers: {} }
  const { config, file: path, source } = loaded
  const filled = fillEnvironment(config, { text: source, folder: dirname(path), environment: process.env })
  checkClients(filled.config, source)
  return { ...filled, file: path, source }
}
