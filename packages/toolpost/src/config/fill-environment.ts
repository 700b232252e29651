import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import util from 'node:util'
import { isObjectLike } from '../runtime/guards.ts'
import { problemOf } from './check-servers.ts'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Clients = NonNullable<ToolpostConfig['clients']>

interface Source {
  /** Says where a mistake stands. */
  text: ConfigSource
  folder: string
  environment: Environment
}

export interface FilledConfig {
  config: ToolpostConfig
  /** By server: why it cannot be started as it is configured. */
  brokenServers: Record<string, string>
}

/**
 * Fills `${NAME}` in the values of the servers, of the clients' tokens and of the voice gateway's broker from the
 * environment; `${NAME:-text}` gives the text if NAME is not set. A variable that is not set breaks only the server that
 * wants it; for the others it is a ConfigError. Disabled servers are left out.
 */
export function fillEnvironment(config: ToolpostConfig, source: Source): FilledConfig {
  const { mcpServers, clients, voice } = config
  const brokenServers: Record<string, string> = {}
  const filled = {
    ...config,
    ...(mcpServers && { mcpServers: fillServers(mcpServers, source, brokenServers) }),
    ...(clients && { clients: fillClients(clients, source) }),
    ...(voice?.mqtt && { voice: { ...voice, mqtt: fillAll(voice.mqtt, ['voice', 'mqtt'], source) } }),
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
        return [name, fillServer(server, ['mcpServers', name], source)]
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        broken[name] = error.message
        return [name, server]
      }
    }),
  )
}

function fillClients(clients: Clients, source: Source): Clients {
  return Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [
      name,
      { ...client, token: fillText(client.token, ['clients', name, 'token'], source) },
    ]),
  )
}

const FILLED = ['command', 'args', 'cwd', 'env', 'url', 'headers']

function fillServer(server: ServerConfig, path: ConfigPath, source: Source): ServerConfig {
  const given = Object.entries(server).filter(([key]) => FILLED.includes(key))
  const filled: ServerConfig = { ...server, ...fillAll(Object.fromEntries(given), path, source) }
  if (filled.url !== undefined && filled.oauth)
    filled.oauth = fillTexts(filled.oauth, [...path, 'oauth'], source)
  const problem = problemOf(filled)
  if (problem) throw source.text.error(path, problem)
  if (filled.url !== undefined) return filled
  const { cwd, env, envFile } = filled
  return {
    ...filled,
    ...(cwd !== undefined && { cwd: resolve(source.folder, cwd) }),
    ...(envFile !== undefined && { env: { ...readEnvFile(envFile, path, source), ...env } }),
  }
}

/** Fills in the texts of an object, and leaves the rest as it is. */
function fillTexts<Value extends object>(value: Value, path: ConfigPath, source: Source): Value {
  const fill = (key: string, entry: unknown) =>
    typeof entry === 'string' ? fillText(entry, [...path, key], source) : entry
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(key, entry)])) as Value
}

/** Fills in every text in a value. Numbers and the like become texts, which is what an environment has. */
function fillAll<Value>(value: Value, path: ConfigPath, source: Source): Value {
  if (Array.isArray(value))
    return value.map((entry, index) => fillAll(entry, [...path, index], source)) as Value
  if (!isObjectLike(value)) return fillText(String(value), path, source) as Value
  const entries = Object.entries(value).map(([key, entry]) => [key, fillAll(entry, [...path, key], source)])
  return Object.fromEntries(entries)
}

/** `${NAME}`, `${NAME:-default}`, and VS Code's `${env:NAME}`. */
const VARIABLE = /\$\{((?:env:)?[^}:]+)(?::-([^}]*))?\}/g

function fillText(text: string, path: ConfigPath, { text: file, environment }: Source): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = environment[name.replace(/^env:/, '')] ?? fallback
    if (value === undefined) throw file.error(path, `the environment variable ${name} is not set`)
    return value
  })
}

function readEnvFile(envFile: string, path: ConfigPath, source: Source): Record<string, string> {
  try {
    return util.parseEnv(readFileSync(resolve(source.folder, envFile), 'utf8')) as Record<string, string>
  } catch (error) {
    const problem = `cannot be read: ${(error as Error).message}`
    throw source.text.error([...path, 'envFile'], problem, { cause: error })
  }
}
