import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import util from 'node:util'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Source {
  /** The file's name, as errors say it. */
  file: string
  folder: string
  environment: Environment
}

/**
 * Fills `${NAME}` in the values of the servers and of the voice gateway's broker from the environment. A variable that is not set is a ConfigError
 * that names it; `${NAME:-text}` gives the text instead. Disabled servers are left out.
 */
export function fillEnvironment(config: ToolpostConfig, source: Source): ToolpostConfig {
  const { mcpServers, voice } = config
  return {
    ...config,
    ...(mcpServers && { mcpServers: fillServers(mcpServers, source) }),
    ...(voice?.mqtt && { voice: { ...voice, mqtt: fillValues(voice.mqtt, 'voice.mqtt', source) } }),
  }
}

function fillServers(servers: Record<string, ServerConfig>, source: Source): Record<string, ServerConfig> {
  const filled = Object.entries(servers)
    .filter(([, server]) => !server.disabled)
    .map(([name, server]) => [name, fillServer(server, `mcpServers.${name}`, source)] as const)
  return Object.fromEntries(filled)
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
