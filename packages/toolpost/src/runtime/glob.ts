/** `*` matches any characters, `?` one. Takes at most pattern length × name length steps. */
export function fitsGlob(name: string, glob: string): boolean {
  let at = 0
  let inGlob = 0
  let star = -1
  let afterStar = 0
  while (at < name.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++
      afterStar = at
    } else if (inGlob < glob.length && (glob[inGlob] === '?' || glob[inGlob] === name[at])) {
      inGlob++
      at++
    } else if (star >= 0) {
      inGlob = star + 1
      at = ++afterStar
    } else {
      return false
    }
  }
  return /^\**$/.test(glob.slice(inGlob))
}

/** Why a pattern would not do what its author expects; `undefined` if it would. */
export function globProblem(glob: string): string | undefined {
  if (glob === '') return 'a pattern must not be empty'
  if (glob !== glob.trim() || /\p{Cc}/u.test(glob))
    return `invalid pattern '${glob}'; remove surrounding whitespace and control characters`
  if (/[[\]{}()|^$\\!,]/.test(glob)) return `invalid pattern '${glob}'; only * and ? are wildcards`
  return undefined
}
