import { resolve } from 'node:path'
import { builtInExample } from '../config/built-in-example.ts'
import { checkClients } from '../config/check-clients.ts'
import { checkDurable } from '../config/check-durable.ts'
import { checkOAuth } from '../config/check-oauth.ts'
import { ConfigError, type ToolpostConfig } from '../config/config.ts'
import type { ConfigSource } from '../config/config-source.ts'
import { fillEnvironment } from '../config/fill-environment.ts'
import type { ConfigInput } from '../config/inputs.ts'
import { DEFAULT_CONFIG_FILE, readConfig } from '../config/read-config.ts'
import { removeFromLogs } from '../logging/redact.ts'
import { Project } from './project.ts'
import type { ProjectOptions } from './project-options.ts'

export interface OpenProjectOptions extends Omit<ProjectOptions, 'read' | 'answer'> {
  /** The configuration; `toolpost.json` in the current folder if left out, or else the built-in example. */
  file?: string | undefined
  /** Asks a person for an input of a server (`inputs` of VS Code); `undefined` if there is no answer. */
  askInput?: ((input: ConfigInput) => Promise<string | undefined>) | undefined
}

/** What a configuration says, with the environment filled in. */
export interface Description {
  config: ToolpostConfig
  /** Where it was read from; `undefined` for the built-in example. */
  file: string | undefined
  /** Its text, which locates mistakes. */
  source?: ConfigSource | undefined
  /** Why a server cannot be started as configured, by name. */
  brokenServers: Readonly<Record<string, string>>
  /** Warnings for a person, one line each. */
  notices?: readonly string[]
  /** Every file it was read from, including those that do not exist yet. */
  files?: readonly string[]
  /** When reading started, in milliseconds since 1970. */
  readAt?: number
  /** Inputs of servers that nobody has answered yet. */
  inputs?: readonly ConfigInput[]
  /** By server: tools that run without asking, even if the policy would ask. */
  autoApprove?: Readonly<Record<string, readonly string[]>>
}

/** Reads a configuration and creates the project it describes. Rejects, before anything runs, if it is wrong. */
export async function openProject({ file, askInput, ...options }: OpenProjectOptions): Promise<Project> {
  const answers = new Map<string, string>()
  let hadFile = false
  const read = async () => {
    const readAt = Date.now()
    const description = { ...(await describe(file, answers)), readAt }
    // A file that disappeared is a mistake, not a request for the built-in example.
    if (hadFile && description.file === undefined)
      throw new ConfigError(DEFAULT_CONFIG_FILE, '', 'file not found')
    hadFile = description.file !== undefined
    return description
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

async function describe(
  file: string | undefined,
  answers: ReadonlyMap<string, string>,
): Promise<Description> {
  const loaded = await readConfig(file)
  if (!loaded)
    return {
      config: builtInExample(),
      file: undefined,
      brokenServers: {},
      files: [resolve(DEFAULT_CONFIG_FILE)],
    }
  const { file: path, source, servers, notices } = loaded
  const { envFiles, ...filled } = fillEnvironment(loaded, { environment: process.env, answers })
  checkClients(filled.config, source)
  checkOAuth(filled.config, source)
  checkDurable(filled.config, source)
  const approved = servers.filter(({ autoApprove }) => autoApprove.length > 0)
  return {
    ...filled,
    file: path,
    source,
    notices,
    files: [...loaded.files, ...envFiles],
    autoApprove: Object.fromEntries(approved.map(({ name, autoApprove }) => [name, autoApprove])),
  }
}
