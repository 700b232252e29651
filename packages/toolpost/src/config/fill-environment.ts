import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import util from 'node:util'
import { problemOf } from './check-servers.ts'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Source {
  /** The file's name, as errors say it. */
  file: string
  folder: string
  environment: Environment
}

export interface FilledConfig {
  config: ToolpostConfig
  /** By server: why it cannot be started as it is configured. */
  brokenServers: Record<string, string>
}

/**
 * Fills `${NAME}` in the values of the servers and of the voice gateway's broker from the environment; `${NAME:-text}`
 * gives the text if NAME is not set. A variable that is not set breaks only the server that wants it; for the voice
 * gateway it is a ConfigError. Disabled servers are left out.
 */
export function fillEnvironment(config: ToolpostConfig, source: Source): FilledConfig {
  const { mcpServers, voice } = config
  const brokenServers: Record<string, string> = {}
  const filled = {
    ...config,
    ...(mcpServers && { mcpServers: fillServers(mcpServers, source, brokenServers) }),
    ...(voice?.mqtt && { voice: { ...voice, mqtt: fillValues(voice.mqtt, 'voice.mqtt', source) } }),
  }
  return { config: filled, brokenServers }
}

function fillServers(
  servers: Record<string, ServerConfig>,
  source: Source,
  broken: Record<string, string>,
): Record<string, ServerConfig> {
  const enabled = Object.entries(servers).filter(([, server]) => !server.disabled)
  return Object.fromEntries(
    enabled.map(([name, server]) => {
      try {
        const filled = fillServer(server, `mcpServers.${name}`, source)
        const problem = problemOf(filled)
        if (problem) broken[name] = problem
        return [name, filled]
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        broken[name] = error.message
        return [name, server]
      }
    }),
  )
}

function fillValues(
  values: Readonly<Record<string, unknown>>,
  place: string,
  source: Source,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      fillText(String(value), `${place}.${name}`, source),
    ]),
  )
}

function fillServer(server: ServerConfig, place: string, source: Source): ServerConfig {
  const fill = (text: string, key: string) => fillText(text, `${place}.${key}`, source)
  const fillAll = (values: Readonly<Record<string, unknown>> = {}, key: string) =>
    fillValues(values, `${place}.${key}`, source)
  if (server.url !== undefined) {
    const { url, headers } = server
    return { ...server, url: fill(url, 'url'), ...(headers && { headers: fillAll(headers, 'headers') }) }
  }
  const { command, args, cwd, env, envFile } = server
  return {
    ...server,
    command: fill(command, 'command'),
    ...(args && { args: args.map((value, index) => fill(value, `args[${index}]`)) }),
    ...(cwd !== undefined && { cwd: resolve(source.folder, fill(cwd, 'cwd')) }),
    ...((env || envFile) && { env: { ...readEnvFile(envFile, place, source), ...fillAll(env, 'env') } }),
  }
}

/** `${NAME}`, `${NAME:-default}`, and VS Code's `${env:NAME}`. */
const VARIABLE = /\$\{((?:env:)?[^}:]+)(?::-([^}]*))?\}/g

function fillText(text: string, place: string, { file, environment }: Source): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = environment[name.replace(/^env:/, '')] ?? fallback
    if (value === undefined) throw new ConfigError(file, place, `the environment variable ${name} is not set`)
    return value
  })
}

function readEnvFile(envFile: string | undefined, place: string, source: Source): Record<string, string> {
  if (envFile === undefined) return {}
  try {
    return util.parseEnv(readFileSync(resolve(source.folder, envFile), 'utf8')) as Record<string, string>
  } catch (error) {
    throw new ConfigError(source.file, `${place}.envFile`, `cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
