import { setTimeout as delay } from 'node:timers/promises'
import { isStartedByItself } from '../project/servers.ts'
import type { Ask } from '../tools/caller.ts'
import type { Context } from './context.ts'
import { EXIT, stop, UsageError } from './terminal.ts'

/** Many clients list the tools only once, at the start: until this long after it, a list waits for servers still starting. */
const LIST_WAIT_MS = 3_000

/** There is no console to answer in, so waiting for an answer would only be slow. */
const ask: Ask = async () => ({
  action: 'decline',
  reason: "this MCP client cannot ask you; allow it with a rule in 'policy' of toolpost.json",
})

/** `toolpost serve --stdio`: serves the tools over MCP on standard input and output until the client disconnects. */
export async function runServe({ open, flags }: Context): Promise<number> {
  if (!flags.stdio) throw new UsageError('serve needs --stdio; `toolpost up` serves over HTTP')
  const { project } = await open()
  const { file, executor, catalog, logger, waitWhileStarting } = project
  const itself = 'lists this Toolpost as one of its own servers, so it would start itself over and over'
  if (isStartedByItself(file)) throw new UsageError(`${file} ${itself}; remove it there`)
  const { guardStdout, serveTools } = await import('../gateway/index.ts')
  const stdout = guardStdout()
  const following = project.follow()
  stop.onHangup = () => void following.reload()
  void project.keepHistory({ unasked: false })
  const started = Promise.race([project.ready(), delay(LIST_WAIT_MS, undefined, { ref: false })])
  try {
    await serveTools({
      ...{ executor, catalog, logger, stdin: process.stdin, stdout, ask, waitWhileStarting },
      offer: () => ({ ...project.config.models, toolSearch: project.config.gateway?.toolSearch }),
      signal: stop.signal,
      whenListed: async () => void (await started),
    })
    return EXIT.ok
  } finally {
    following.stop()
    process.stdin.destroy()
  }
}
