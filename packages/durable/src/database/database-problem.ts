/** Why a database cannot be used, and what to do about it. */
export class DatabaseProblem extends Error {
  /** It may resolve itself: the server is down, or still starting. */
  readonly isPassing: boolean

  constructor(message: string, { isPassing = false, cause }: { isPassing?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.isPassing = isPassing
  }
}

const PASSING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is PostgreSQL running there?',
  ECONNRESET: 'closed the connection',
  ETIMEDOUT: 'does not answer; check the address and the firewall',
  EHOSTUNREACH: 'cannot be reached; check the address and the network',
  ENETUNREACH: 'cannot be reached; check the network',
  EAI_AGAIN: 'has a host name that cannot be resolved right now; check the network',
  ENOENT: 'has no socket at that path; is PostgreSQL running there?',
  '57P01': 'was shut down',
  '57P02': 'crashed and is restarting',
  '57P03': 'is still starting',
  '53300': 'has no free connections; raise max_connections or run fewer processes',
}

const LASTING: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has an unknown host name; check the host in the URL',
  '28P01': 'rejects the password; check user and password in the URL',
  '28000': 'rejects this user; check the user in the URL and pg_hba.conf on the server',
  '3D000': 'has no such database; create it (createdb) or correct the name in the URL',
  '42501': 'does not let this user create tables; grant CREATE on the database',
}

/** Turns an error of the driver into a problem with the database at `where`, which is shown and must not include the password. */
export function problemOf(error: unknown, where: string): DatabaseProblem {
  if (error instanceof DatabaseProblem) return error
  const code = codeOf(error)
  const passing = PASSING[code]
  const lasting = LASTING[code]
  if (passing)
    return new DatabaseProblem(`PostgreSQL at ${where} ${passing}`, { isPassing: true, cause: error })
  if (lasting) return new DatabaseProblem(`PostgreSQL at ${where} ${lasting}`, { cause: error })
  const text = messageOf(error)
  const isPassing = /timeout|terminated|closed|ended/i.test(text)
  return new DatabaseProblem(`PostgreSQL at ${where} cannot be used: ${text}`, { isPassing, cause: error })
}

/** The code of an error, or of the first one it aggregates. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && !('code' in error && error.code)) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}
