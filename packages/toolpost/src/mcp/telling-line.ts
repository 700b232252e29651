const TELLING =
  /cannot find|no module|not found|no such file|denied|unauthorized|forbidden|invalid|missing|required|not set|\bE[A-Z]{4,}\b|error|exception|fatal|failed|panic/i
const MAX_CHARACTERS = 300

/** The line of stderr that says what is wrong, or else the last one; `undefined` if stderr is empty. */
export function tellingLine(stderr: string): string | undefined {
  const lines = stderr.split('\n').map(line => line.trim().slice(0, MAX_CHARACTERS))
  return lines.find(line => TELLING.test(line)) ?? lines.findLast(line => line !== '')
}
