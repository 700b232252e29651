import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** Notes what a hostile server did, if it has a journal: the file survives its crashes. */
export function noteIn(journal: string | undefined, event: string): void {
  if (journal) appendFileSync(journal, `${event}\n`)
}

export function countIn(journal: string | undefined, event: string): number {
  if (!journal || !existsSync(journal)) return 0
  const lines = readFileSync(journal, 'utf8').split('\n')
  return lines.filter(line => line === event).length
}
