import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import util from 'node:util'
import type { Environment } from '../runtime/environment.ts'
import { isRecord } from '../runtime/guards.ts'
import { problemOf } from './check-servers.ts'
import { ConfigError, type ServerConfig, type ToolpostConfig } from './config.ts'
import type { ConfigPath } from './config-source.ts'
import type { FoundServer } from './found-servers.ts'
import type { ConfigInput } from './inputs.ts'
import type { LoadedConfig } from './read-config.ts'
import { pathFrom } from './read-includes.ts'
import { withFilesFrom } from './server-paths.ts'
import { fillAll, fillText, type Scope } from './variables.ts'

type Clients = NonNullable<ToolpostConfig['clients']>
type Gateway = NonNullable<ToolpostConfig['gateway']>

export interface FillOptions {
  environment: Environment
  /** A person's answers, by the key of the input. */
  answers?: ReadonlyMap<string, string>
}

export interface FilledConfig {
  config: ToolpostConfig
  /** Why a server cannot be started as configured, by name. */
  brokenServers: Record<string, string>
  /** Inputs of servers that nobody has answered yet. */
  inputs: ConfigInput[]
  /** The files with variables for servers. */
  envFiles: string[]
}

/**
 * Replaces `${NAME}` from the environment in servers, clients' tokens, the gateway's token and OAuth settings, the voice gateway's
 * broker and the database for durable calls; `${NAME:-text}` becomes the text if NAME is not set. An unset variable breaks
 * only the server that uses it; anywhere else it is a ConfigError. Disabled servers are left out.
 */
export function fillEnvironment(loaded: LoadedConfig, options: FillOptions): FilledConfig {
  const { config, source, file } = loaded
  const { mcpServers, clients, gateway, voice, durable } = config
  const scope: Scope = { text: source, environment: options.environment, folder: dirname(file) }
  const filled: FilledConfig = { config, brokenServers: {}, inputs: [], envFiles: [] }
  filled.config = {
    ...config,
    ...(mcpServers && { mcpServers: fillServers(loaded, options, filled) }),
    ...(clients && { clients: fillClients(clients, scope) }),
    ...(gateway && { gateway: fillGateway(gateway, scope) }),
    ...(typeof durable === 'object' && { durable: fillTexts(durable, ['durable'], scope) }),
    ...(voice?.mqtt && { voice: { ...voice, mqtt: fillAll(voice.mqtt, ['voice', 'mqtt'], scope) } }),
  }
  return filled
}

function fillServers(
  { servers, file }: LoadedConfig,
  { environment, answers }: FillOptions,
  filled: FilledConfig,
): Record<string, ServerConfig> {
  const enabled = servers.filter(({ entry }) => entry?.disabled !== true)
  const answerTo = (input: ConfigInput) => {
    const answer = answers?.get(input.key)
    if (answer === undefined && !filled.inputs.includes(input)) filled.inputs.push(input)
    return answer
  }
  return Object.fromEntries(
    enabled.map(server => {
      const inputs = { known: server.inputs, answerTo }
      const scope: Scope = { text: server.file.source, environment, folder: dirname(file), inputs }
      try {
        return [server.name, fillServer(server, scope, filled.envFiles)]
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        filled.brokenServers[server.name] = error.message
        return [server.name, (isRecord(server.entry) ? server.entry : {}) as ServerConfig]
      }
    }),
  )
}

function fillClients(clients: Clients, scope: Scope): Clients {
  return Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [
      name,
      { ...client, token: fillText(client.token, ['clients', name, 'token'], scope) },
    ]),
  )
}

function fillGateway(gateway: Gateway, scope: Scope): Gateway {
  const { token, oauth } = gateway
  return {
    ...gateway,
    ...(token && { token: fillText(token, ['gateway', 'token'], scope) }),
    ...(oauth && { oauth: fillAll(oauth, ['gateway', 'oauth'], scope) }),
  }
}

const FILLED = ['command', 'args', 'cwd', 'env', 'envFile', 'url', 'headers']

function fillServer(
  { entry, path, problem, file }: FoundServer,
  scope: Scope,
  envFiles: string[],
): ServerConfig {
  if (problem !== undefined) throw scope.text.error(path, problem)
  const given = Object.entries(entry).filter(([key]) => FILLED.includes(key))
  const filled: ServerConfig = { ...entry, ...fillAll(Object.fromEntries(given), path, scope) }
  if (filled.url !== undefined && filled.oauth)
    filled.oauth = fillTexts(filled.oauth, [...path, 'oauth'], scope)
  const wrong = problemOf(filled)
  if (wrong) throw scope.text.error(path, wrong)
  if (filled.url !== undefined) return filled
  const { cwd, env, envFile } = filled
  const folder = dirname(file.path)
  const variables = envFile === undefined ? undefined : pathFrom(folder, envFile)
  if (variables !== undefined) envFiles.push(variables)
  const started = {
    ...filled,
    ...(cwd !== undefined && { cwd: pathFrom(folder, cwd) }),
    ...(variables !== undefined && {
      env: { ...readEnvFile(variables, scope, path), ...env },
    }),
  }
  return withFilesFrom(started, folder)
}

/** Fills in the strings of an object, and leaves the rest as it is. */
function fillTexts<Value extends object>(value: Value, path: ConfigPath, scope: Scope): Value {
  const fill = (key: string, entry: unknown) =>
    typeof entry === 'string' ? fillText(entry, [...path, key], scope) : entry
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(key, entry)])) as Value
}

function readEnvFile(file: string, scope: Scope, path: ConfigPath): Record<string, string> {
  try {
    return util.parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    const problem = `cannot be read: ${(error as Error).message}`
    throw scope.text.error([...path, 'envFile'], problem, { cause: error })
  }
}
