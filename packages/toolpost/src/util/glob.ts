const patterns = new Map<string, RegExp>()

/** `*` matches any characters, `?` one. Patterns are the configuration's: each is compiled once. */
export function fitsGlob(name: string, glob: string): boolean {
  let pattern = patterns.get(glob)
  if (!pattern) {
    const source = glob
      .replace(/[\\^$.+()[\]{}|/]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replaceAll('?', '.')
    pattern = new RegExp(`^${source}$`, 's')
    patterns.set(glob, pattern)
  }
  return pattern.test(name)
}

/** Why a pattern would not do what its author expects; `undefined` if it would. */
export function globProblem(glob: string): string | undefined {
  if (glob === '') return 'a pattern must not be empty'
  if (glob !== glob.trim() || /\p{Cc}/u.test(glob))
    return `invalid pattern '${glob}'; remove surrounding whitespace and control characters`
  if (/[[\]{}()|^$\\!,]/.test(glob)) return `invalid pattern '${glob}'; only * and ? are wildcards`
  return undefined
}
