import { safeLines, safeValue } from './safe-value.ts'
import { loadPino } from './stderr-logger.ts'

/** Has something for every pattern, most of which are only compiled when they are needed. */
const SAMPLE = `-----BEGIN PRIVATE KEY-----
x
-----END PRIVATE KEY-----
- name: token
  value: x
a: ["--token", "x", ["key", "x"]] --token x curl -u me:x -U me%x -b x <token a="x">x</token> password 'x'
https://me:x@host/?key=x#token=x Bearer x Basic x the token is x %3D &quot; | token | x | sk-x eyJx set token x`

/**
 * Does now what the first line of a log would do otherwise: for a program that lives long, and whose first call that
 * fails should not hold up the calls beside it by a tenth of a second.
 */
export function warmUpLogging(): void {
  loadPino()
  for (const sample of [SAMPLE, { [SAMPLE]: SAMPLE, list: [SAMPLE] }]) {
    safeValue(sample)
    safeLines(SAMPLE)
  }
}
