import { decoded } from '../router.ts'

const KEY = 'toolpost.token'

/** From the last link; used only if the stored token is refused, because a link can come from anybody. */
let offered: string | undefined

/** Removes `#token=…` from the address, so that it is neither bookmarked nor shared. */
export function takeTokenFromAddress(): void {
  const token = tokenIn(location.hash)
  if (token === undefined) return
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  if (currentToken() === undefined) keepToken(token)
  else offered = token
}

function tokenIn(hash: string): string | undefined {
  const [, token] = /^#\/?token=(.+)$/.exec(hash) ?? []
  return token && decoded(token)
}

/** Whether there was one to use instead. */
export function adoptOfferedToken(): boolean {
  if (offered === undefined) return false
  keepToken(offered)
  offered = undefined
  return true
}

/** For this address: for the browser's other tabs, and for the next time. */
export function keepToken(token: string): void {
  localStorage.setItem(KEY, token)
}

export function currentToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined
}

/** For every request; empty without a token, or with one that no header can carry. */
export function tokenHeaders(token = currentToken()): Record<string, string> {
  return token !== undefined && /^[\x20-\x7e]+$/.test(token) ? { authorization: `Bearer ${token}` } : {}
}
