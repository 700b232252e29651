import { shownAddress } from '../logging/config-secrets.ts'
import type { ParameterNames } from '../tools/tool-manager.ts'
import { isRecord } from '../util/guards.ts'
import { type OAuthOptions, oauthProblem } from './oauth/oauth-options.ts'
import type { Sandbox } from './sandbox.ts'

interface CommonEntry {
  /** Written by some editors; `sse` skips the attempt at Streamable HTTP. */
  type?: 'stdio' | 'http' | 'streamable-http' | 'sse' | undefined
  /** How long a call may take; the executor's own limit if left out. */
  timeoutMs?: number | undefined
  /** How far progress may extend a call's deadline; not at all if left out. */
  maxTimeoutMs?: number | undefined
  /** By tool: argument names used by callers → names expected by the server. */
  parameterNames?: ParameterNames | undefined
  /** Names of the tools to offer, with `*` and `?`; all if left out. */
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
  /** The longest message it may send: a line, an event or a body. 10 MB if left out. */
  maxLineBytes?: number | undefined
  hint?: string | undefined
  /** By tool: sentences that call it without a model. */
  sentences?: Readonly<Record<string, readonly string[]>> | undefined
  /** Folders the server is told to work in: paths or `file:` URIs. */
  roots?: readonly (string | { uri: string; name?: string | undefined })[] | undefined
  /** Whether what it says about its tools may be relied on. */
  trust?: boolean | undefined
  /** Whether it may ask for messages to be generated: by the caller's model, or else by the project's. */
  sampling?: boolean | undefined
}

/** A server that is started as a command and talks over stdin and stdout. */
export interface StdioServerEntry extends CommonEntry {
  command: string
  args?: readonly string[] | undefined
  /** Added to the few variables of this process that are safe to pass on (PATH, HOME, …). */
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  sandbox?: Sandbox | undefined
  url?: undefined
}

/** A server at a URL: Streamable HTTP, or HTTP+SSE if it is too old for that. */
export interface HttpServerEntry extends CommonEntry {
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  /** How to log in if the server requires it; `false` to never log in. */
  oauth?: OAuthOptions | false | undefined
  command?: undefined
  args?: undefined
}

export type ServerEntry = StdioServerEntry | HttpServerEntry

export function isHttp(entry: ServerEntry): entry is HttpServerEntry {
  return typeof entry.url === 'string'
}

const RUNNERS =
  /^(?:npx|uvx|bunx|pnpx|npm (?:exec|x)|(?:pnpm|yarn) dlx|bun x|uv (?:tool )?run|pipx run|docker (?:run|compose)|podman run)\b/

/** The program that may have to download the server first, if it is started by one. */
export function packageRunner(entry: ServerEntry): string | undefined {
  if (isHttp(entry)) return undefined
  const name = entry.command.replace(/^.*[/\\]|\.(?:cmd|exe)$/gi, '')
  // Options may stand before the command.
  const words = [name, ...(entry.args ?? []).filter(arg => !arg.startsWith('-'))]
  return RUNNERS.test(words.join(' ')) ? name : undefined
}

/** Throws, naming the server, on an entry that cannot be used. */
export function checkServerEntry(name: string, entry: ServerEntry): void {
  if (!isRecord(entry)) throw new TypeError(`MCP server '${name}' is not an object`)
  const { command, url } = entry as { command?: unknown; url?: unknown }
  const given = [command, url].filter(value => value !== undefined)
  if (given.length !== 1 || typeof given[0] !== 'string' || command === '')
    throw new TypeError(`MCP server '${name}' needs either 'command' or 'url', as a string`)
  if (typeof url === 'string' && !isHttpUrl(url))
    throw new TypeError(
      `MCP server '${name}': '${shownAddress(url)}' is not a valid URL; expected http:// or https://`,
    )
  const problem = isHttp(entry) && oauthProblem(entry.oauth)
  if (problem) throw new TypeError(`MCP server '${name}': ${problem}`)
}

/** `localhost:3000` parses too, as a URL of the scheme `localhost:`, and `http:///mcp` as one of the host `mcp`. */
export function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^\s*https?:\/\/[^/\\?#]/i.test(url)
}
