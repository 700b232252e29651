import type { ServerStatus } from 'toolpost/mcp'
import type { VoiceContext } from './start-voice.ts'

/** Starts the servers. The gateway goes on without those that fail, and says so once. Gives those that are missing. */
export function startTools({ servers, executor, parts, logger }: VoiceContext): () => readonly string[] {
  let missing: readonly string[] = []
  parts.begin('tools', async () => {
    const status = await servers.ready()
    missing = status.filter(({ state }) => state !== 'ready').map(({ name }) => name)
    if (missing.length > 0) logger.warn({ missing }, goingOn(status))
    const count = `${executor.tools.getTools().length} tools`
    return missing.length === 0 ? count : `${count}, without ${missing.join(', ')}`
  })
  return () => missing
}

function goingOn(status: readonly ServerStatus[]): string {
  return status.some(({ state }) => state === 'ready')
    ? 'Going on with the tools that are there'
    : 'Going on with local tools only'
}
