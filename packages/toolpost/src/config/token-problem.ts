/** Shorter tokens are too easy to guess. */
const MIN_TOKEN_LENGTH = 16

/** Why a token is too easy to guess, or cannot be sent. */
export function tokenProblem(token: string): string | undefined {
  if (token.length < MIN_TOKEN_LENGTH) return `is too short: it needs at least ${MIN_TOKEN_LENGTH} characters`
  if (!/^[\x21-\x7e]+$/.test(token)) return 'must consist of printable ASCII characters without spaces'
  return undefined
}
