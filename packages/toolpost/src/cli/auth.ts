import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import spawn from 'cross-spawn'
import { similarNames } from '../executor/find.ts'
import { Logins, type ServerLogin } from '../mcp/index.ts'
import { listenForRedirect } from '../mcp/oauth/redirect-server.ts'
import { describeError } from '../mcp/server-failure.ts'
import type { Project } from '../project/project.ts'
import { loginsFolder } from '../project/server-entries.ts'
import { pageOpener } from '../runtime/platform.ts'
import type { CommandContext } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { say, type Terminal } from './terminal.ts'

export interface AuthFlags {
  /** `--no-browser` makes it false. */
  browser: boolean
  logout?: boolean
}

/** How long the user has to log in. */
const LOGIN_MS = 5 * 60_000

/** `toolpost auth <server>`: logs in to a server in a browser, or out of it. A running gateway picks up the change. */
export async function logIn(context: CommandContext, server: string, flags: AuthFlags): Promise<number> {
  const { project, terminal, stop } = context
  const login = await loginAt(server, project)
  try {
    if (flags.logout) say(terminal, FAREWELLS[await login.logout()](server))
    else {
      await unlessStopped(logInAt(login, terminal, flags), stop.signal)
      say(terminal, `Logged in to '${server}'.`)
    }
    return EXIT.ok
  } catch (error) {
    if (stop.signal.aborted) throw error
    say(
      terminal,
      `Error: cannot log ${flags.logout ? 'out of' : 'in to'} '${server}': ${describeError(error)}`,
    )
    return EXIT.failed
  }
}

const FAREWELLS = {
  none: (server: string) => `Not logged in to '${server}'.`,
  revoked: (server: string) => `Logged out of '${server}'.`,
  forgotten: (server: string) =>
    `The login for '${server}' was removed here, but the server did not revoke it. To make it unusable, revoke it there.`,
}

async function loginAt(server: string, project: Project): Promise<ServerLogin> {
  const names = Object.keys(project.config.mcpServers ?? {})
  const entry = await project.entryOf(server)
  if (!entry) {
    const [near] = similarNames(
      server,
      names.map(name => ({ name })),
    )
    throw new UsageError(`No usable server '${server}'${near === undefined ? '' : `. Did you mean ${near}?`}`)
  }
  const { logger } = project
  const logins = new Logins({ servers: { [server]: entry }, folder: loginsFolder(project), logger })
  const login = logins.of(server)
  if (login) return login
  const why =
    entry.url === undefined ? 'is not reached over HTTP' : 'has its credentials in the configuration'
  throw new UsageError(`No login needed: '${server}' ${why}`)
}

async function logInAt(login: ServerLogin, terminal: Terminal, { browser }: AuthFlags): Promise<void> {
  if (!login.isInteractive) return login.signIn()
  const over = new AbortController()
  const answers = new Answers(login)
  const redirect = await listenForRedirect(answer => answers.take(answer), login.redirectPort)
  try {
    const url = await login.begin(redirect.url)
    const isOpened = browser && openBrowser(url)
    say(
      terminal,
      `${isOpened ? 'Log in in your browser. If it does not open, go to' : 'To log in, go to'}\n\n  ${url}\n`,
    )
    say(terminal, 'If the browser is on another machine, paste the final redirect URL here.')
    readAnswers(
      answer => void answers.take(answer).catch(error => say(terminal, describeError(error))),
      over.signal,
    )
    await Promise.race([answers.taken, tooLate(over.signal)])
  } finally {
    over.abort()
    redirect.close()
  }
}

/** What comes back from a login, by redirect or pasted. The first answer to this login ends it. */
class Answers {
  readonly #login: ServerLogin
  #end: (outcome: Promise<void>) => void = () => {}
  /** Resolves when the login succeeds; rejects if it fails. */
  readonly taken = new Promise<void>(resolve => {
    this.#end = resolve
  })

  constructor(login: ServerLogin) {
    this.#login = login
  }

  async take(answer: URLSearchParams): Promise<string> {
    // A stray request does not end the login.
    if (!this.#login.hasBegun(answer.get('state') ?? ''))
      throw new Error('this answer belongs to another login')
    const outcome = this.#login.finish(answer)
    this.#end(outcome)
    await outcome
    return this.#login.name
  }
}

async function tooLate(signal: AbortSignal): Promise<void> {
  await pause(LOGIN_MS, undefined, { signal })
  throw new Error(`no login within ${LOGIN_MS / 60_000} minutes`)
}

/** Reads pasted addresses, one per line. */
function readAnswers(take: (answer: URLSearchParams) => void, signal: AbortSignal): void {
  const lines = createInterface({ input: process.stdin, signal })
  lines.on('line', line => {
    const at = line.indexOf('?')
    if (at >= 0) take(new URLSearchParams(line.slice(at).trim()))
  })
  // Open input would keep the process alive.
  signal.addEventListener('abort', () => process.stdin.unref?.())
}

/** Returns whether there is a program to open it with, not whether that works. */
function openBrowser(url: string): boolean {
  const [command, ...args] = pageOpener() ?? []
  if (command === undefined) return false
  const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
  return true
}
