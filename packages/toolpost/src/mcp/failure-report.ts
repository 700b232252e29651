import { shownAddress } from '../logging/config-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import { lastLines } from './stderr-tail.ts'

export interface FailureReport {
  server: string
  entry: ServerEntry
  attempts: number
  cause: string
  /** The tail of the server's stderr. */
  stderr: string
  /** Names of the tools available without this server. */
  localTools: readonly string[]
  /** Whether another server is ready or still starting. */
  othersReady: boolean
}

const MAX_STDERR_CHARACTERS = 1_500
const INDENT = '   '

/** The message for the user when a server is unavailable: what failed, why, what to do, and what still works. */
export function describeFailure(report: FailureReport): string {
  const { server, entry, attempts, cause, stderr } = report
  const kind = isHttp(entry) ? 'http' : 'stdio'
  return [
    `❌ Failed to initialize MCP tools after ${countOf(attempts)}`,
    `${INDENT}Reason: Connection to ${kind} server '${server}' failed: ${cause}`,
    ...(isHttp(entry) ? [] : [`${INDENT}MCP Server stderr: ${shownStderr(stderr)}`]),
    `${INDENT}Check: ${hintFor(server, entry)}`,
    `⚠️ ${consequence(report)}`,
  ].join('\n')
}

/** The message for the user when a server needs a login. */
export function describeLogin(
  report: Pick<FailureReport, 'server' | 'cause' | 'localTools' | 'othersReady'>,
): string {
  return [
    `🔑 Server '${report.server}' needs a login`,
    `${INDENT}${report.cause}`,
    `⚠️ ${consequence(report)}`,
  ].join('\n')
}

/** `1 attempt`, `3 attempts`. */
export function countOf(attempts: number): string {
  return `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}

function shownStderr(stderr: string): string {
  if (stderr === '') return '(nothing)'
  const tail = lastLines(stderr, MAX_STDERR_CHARACTERS)
  return tail.includes('\n') ? tail.replaceAll('\n', `\n${INDENT}${INDENT}`) : tail
}

/** What to check first. */
export function hintFor(server: string, entry: ServerEntry): string {
  if (isHttp(entry))
    return `the server at ${shownUrl(entry.url)} is running, and 'url' and 'headers' of '${server}' are correct`
  const { command, args = [] } = entry
  if ([server, command, ...args].some(word => /z-?wave/i.test(word)))
    return 'MQTT broker running, zwave-mcp-server installed'
  return `'${safeText(command)}' is installed, and 'args', 'env' and 'cwd' of '${server}' are correct`
}

/** Without user, password and query. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return shownAddress(url)
  const { origin, pathname } = new URL(url)
  return safeText(`${origin}${pathname}`)
}

function consequence({
  server,
  localTools,
  othersReady,
}: Pick<FailureReport, 'server' | 'localTools' | 'othersReady'>): string {
  if (othersReady) return `Continuing without the tools of '${server}'`
  return `Continuing with local tools only (${localTools.join(', ') || 'none'})`
}
