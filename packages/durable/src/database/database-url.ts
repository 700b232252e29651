import { DatabaseProblem } from './database-problem.ts'

/** Parses the URL of a database; throws a `DatabaseProblem` that says what is expected. */
export function checkedUrl(text: string): URL {
  const expected = 'expected postgresql://user:password@host:5432/database'
  if (!URL.canParse(text)) throw new DatabaseProblem(`The database URL is not a valid URL; ${expected}`)
  const url = new URL(text)
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new DatabaseProblem(`The database URL begins with '${url.protocol}//'; ${expected}`)
  if (url.pathname.length < 2) throw new DatabaseProblem(`The database URL has no database name; ${expected}`)
  return url
}

/** Host and database name, without user and password. */
export function placeOf(url: URL): string {
  return `${url.host || 'the local socket'}${url.pathname}`
}
