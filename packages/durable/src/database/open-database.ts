import { DatabaseProblem } from './database-problem.ts'
import { checkedUrl, placeOf } from './database-url.ts'

export interface OpenDatabase {
  url: URL
  /** Host and database name, without user and password. */
  place: string
  /** Stops the server that was started for it, unless others use it. */
  stop?: (() => Promise<void>) | undefined
}

/** The database named by the options. An embedded one is started unless it is running. Throws a `DatabaseProblem`. */
export async function openDatabase(options: {
  databaseUrl?: string | undefined
  dataDir?: string | undefined
  onNotice?: ((text: string) => void) | undefined
}): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, onNotice } = options
  if (databaseUrl !== undefined) {
    const url = checkedUrl(databaseUrl)
    return { url, place: placeOf(url) }
  }
  if (dataDir === undefined)
    throw new DatabaseProblem(
      'Durable calls need a database: set databaseUrl, or dataDir for an embedded one',
    )
  const { startEmbedded } = await import('../embedded/start-embedded.ts')
  const { url, stop } = await startEmbedded(dataDir, onNotice)
  return { url, place: `${placeOf(url)} (embedded)`, stop }
}
