import { safeLines, safeValue } from './safe-value.ts'
import { loadPino } from './stderr-logger.ts'

/** Exercises every pattern: most are compiled only on first use. */
const SAMPLE = `-----BEGIN PRIVATE KEY-----
x
-----END PRIVATE KEY-----
- name: token
  value: x
a: ["--token", "x", ["key", "x"]] --token x curl -u me:x -U me%x -b x <token a="x">x</token> password 'x'
https://me:x@host/?key=x#token=x Bearer x Basic x the token is x %3D &quot; | token | x | sk-x eyJx set token x`

/**
 * Does now what the first log line would otherwise do: in a long-running program, the first failing call should not
 * delay the calls next to it by a tenth of a second.
 */
export function warmUpLogging(): void {
  loadPino()
  for (const sample of [SAMPLE, { [SAMPLE]: SAMPLE, list: [SAMPLE] }]) {
    safeValue(sample)
    safeLines(SAMPLE)
  }
}
