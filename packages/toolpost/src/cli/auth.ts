import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import spawn from 'cross-spawn'
import { Logins, type ServerLogin } from '../mcp/index.ts'
import { listenForRedirect } from '../mcp/oauth/redirect-server.ts'
import { describeError } from '../mcp/server-failure.ts'
import { stateFolder } from '../project/local-state.ts'
import type { Project } from '../project/project.ts'
import { pageOpener } from '../util/platform.ts'
import type { Context } from './context.ts'
import { EXIT, UsageError } from './process.ts'
import { say } from './terminal.ts'

const LOGIN_MS = 5 * 60_000

/** `toolpost auth <server>`: logs in to a server in a browser, or out of it. A running gateway picks up the change. */
export async function logIn({ open, words: [server], flags }: Context<[string]>): Promise<number> {
  const { browser = true, logout } = flags
  const login = await loginAt(server, await open())
  try {
    if (!logout) await logInAt(login, browser)
    const wasLoggedIn = !logout || (await login.logout())
    say(wasLoggedIn ? `Logged ${logout ? 'out of' : 'in to'} '${server}'.` : `Not logged in to '${server}'.`)
    return EXIT.ok
  } catch (error) {
    say(`Error: cannot log ${logout ? 'out of' : 'in to'} '${server}': ${describeError(error)}`)
    return EXIT.failed
  }
}

async function loginAt(server: string, { entryOf, logger, file, config }: Project): Promise<ServerLogin> {
  const entry = await entryOf(server)
  const known = Object.keys(config.mcpServers ?? {}).join(', ')
  if (!entry) throw new UsageError(`No usable server '${server}'; servers: ${known || 'none'}`)
  const login = new Logins({ servers: { [server]: entry }, folder: stateFolder(file), logger }).of(server)
  if (login) return login
  const why =
    entry.url === undefined ? 'is not reached over HTTP' : 'has its credentials in the configuration'
  throw new UsageError(`No login needed: '${server}' ${why}`)
}

/** The first answer to this login, by redirect or pasted, ends it. */
async function logInAt(login: ServerLogin, browser: boolean): Promise<void> {
  if (!login.isInteractive) return login.signIn()
  const over = new AbortController()
  let outcome: Promise<void> | undefined
  const take = async (answer: URLSearchParams) => {
    // A stray request does not end the login.
    if (!login.hasBegun(answer.get('state') ?? '')) throw new Error('this answer belongs to another login')
    outcome = login.finish(answer)
    over.abort()
    await outcome
    return login.name
  }
  const redirect = await listenForRedirect(take, login.redirectPort)
  const lines = createInterface({ input: process.stdin })
  try {
    const url = await login.begin(redirect.url)
    const isOpened = browser && openBrowser(url)
    const first = isOpened ? 'Log in in your browser. If it does not open, go to' : 'To log in, go to'
    say(`${first}\n\n  ${url}\n`)
    say('If the browser is on another machine, paste the final redirect URL here.')
    lines.on('line', line => {
      const query = line.trim().replace(/^[^?]*\??/, '')
      if (query) void take(new URLSearchParams(query)).catch(error => say(describeError(error)))
    })
    await delay(LOGIN_MS, undefined, { ref: false, signal: over.signal }).catch(() => {})
    if (!outcome) throw new Error(`no login within ${LOGIN_MS / 60_000} minutes`)
    await outcome
  } finally {
    lines.close()
    // Open input would keep the process alive.
    process.stdin.unref?.()
    redirect.close()
  }
}

/** Returns whether there is a program to open it with, not whether that works. */
function openBrowser(url: string): boolean {
  const [command, ...args] = pageOpener() ?? []
  if (command !== undefined)
    spawn(command, [...args, url], { detached: true, stdio: 'ignore' })
      .on('error', () => {})
      .unref()
  return command !== undefined
}
