import { shownAddress } from '../logging/config-secrets.ts'
import { safeText } from '../logging/safe-value.ts'
import { isHttp, type ServerEntry } from './server-entry.ts'
import { lastLines, type ServerFailure } from './server-failure.ts'

export interface FailureReport {
  server: string
  entry: ServerEntry
  attempts: number
  failure: ServerFailure
  /** Names of the tools available without this server. */
  localTools: readonly string[]
  /** Whether another server is ready or still starting. */
  othersReady: boolean
}

const MAX_STDERR_CHARACTERS = 1_500
const INDENT = '   '

/** The message for the user when a server is unavailable: what failed, why, what to do, and what still works. */
export function describeFailure(report: FailureReport): string {
  const { server, entry, attempts, failure, localTools, othersReady } = report
  const stderr = lastLines(failure.stderr, MAX_STDERR_CHARACTERS) || '(nothing)'
  const consequence = othersReady
    ? `Continuing without the tools of '${server}'`
    : `Continuing with local tools only (${localTools.join(', ') || 'none'})`
  const told = failure.needsLogin
    ? [`🔑 Server '${server}' needs a login`, `${INDENT}${failure.cause}`]
    : [
        `❌ Failed to initialize MCP tools after ${countOf(attempts)}`,
        `${INDENT}Reason: Connection to ${isHttp(entry) ? 'http' : 'stdio'} server '${server}' failed: ${failure.cause}`,
        ...(isHttp(entry)
          ? []
          : [`${INDENT}MCP Server stderr: ${stderr.replaceAll('\n', `\n${INDENT}${INDENT}`)}`]),
        `${INDENT}Check: ${hintFor(server, entry)}`,
      ]
  return [...told, `⚠️ ${consequence}`].join('\n')
}

/** `1 attempt`, `3 attempts`. */
export function countOf(attempts: number): string {
  return `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
}

/** What to check first: the server's own `hint`, or else its command or URL. */
export function hintFor(server: string, entry: ServerEntry): string {
  if (entry.hint !== undefined) return entry.hint
  if (isHttp(entry))
    return `the server at ${shownUrl(entry.url)} is running, and 'url' and 'headers' of '${server}' are correct`
  return `'${safeText(entry.command)}' is installed, and 'args', 'env' and 'cwd' of '${server}' are correct`
}

/** Without user, password and query. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return shownAddress(url)
  const { origin, pathname } = new URL(url)
  return safeText(`${origin}${pathname}`)
}
