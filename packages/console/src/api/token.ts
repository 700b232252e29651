const KEY = 'toolpost.token'

/** Takes `#token=…` out of the address, so that it is neither bookmarked nor sent on, and keeps it for this tab. */
export function adoptTokenFromAddress(): void {
  const token = tokenIn(location.hash)
  if (token === undefined) return
  keepToken(token)
  history.replaceState(null, '', `${location.pathname}${location.search}#/tools`)
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

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}

export function currentToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

/** For every request; empty where no token was given. */
export function tokenHeaders(): Record<string, string> {
  const token = currentToken()
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}
