const KEY = 'toolpost.token'

/** Removes `#token=…` from the address, so that it is neither bookmarked nor shared. */
export function tokenFromAddress(): string | undefined {
  const token = tokenIn(location.hash)
  if (token !== undefined) history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  return token
}

export function tokenIn(hash: string): string | undefined {
  const match = /^#\/?token=(.+)$/.exec(hash)
  if (!match?.[1]) return undefined
  try {
    return decodeURIComponent(match[1])
  } catch {
    return match[1]
  }
}

/** In this browser, for this address: for its other tabs, and for the next time. */
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
