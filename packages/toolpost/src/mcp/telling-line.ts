/** Patterns for the line that explains a failure, most telling first; other lines only say where it happened. */
const TELLING = [
  /cannot find (?:module|package)|no module named|module not found|could not resolve/i,
  /\b(?:EADDRINUSE|ECONNREFUSED|EACCES|ENOENT|ENOTFOUND|ETIMEDOUT|EPERM)\b/,
  /command not found|no such file|permission denied|not authori[sz]ed|unauthorized|forbidden|invalid (?:api )?(?:key|token)/i,
  /\bmissing\b|\brequired\b|must be set|is not set|not defined|usage:/i,
  /^\s*(?:uncaught )?\w*(?:Error|Exception)\b.*:/,
  /\b(?:error|fatal|failed|panic)\b/i,
]
const MAX_LINES = 200
const MAX_CHARACTERS = 300

/** The line of stderr that says what is wrong, or else the last one; `undefined` if stderr is empty. */
export function tellingLine(stderr: string): string | undefined {
  const lines = stderr
    .split('\n')
    .slice(-MAX_LINES)
    .map(line => line.trim().slice(0, MAX_CHARACTERS))
    .filter(line => line !== '')
  for (const pattern of TELLING) {
    const found = lines.find(line => pattern.test(line))
    if (found !== undefined) return found
  }
  return lines.at(-1)
}
