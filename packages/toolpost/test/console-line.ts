export interface ConsoleLine {
  url: string
  /** Empty if authentication is off. */
  token: string
  /** What the owner sends. */
  headers: Record<string, string>
  /** Asks the gateway as the owner. */
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** The address and the token that `toolpost up` prints. */
export function consoleLine(out: string): ConsoleLine {
  const [, url = '', fragment = ''] = /Console {2}(http\S+\/)(?:#token=(\S+))?/.exec(out) ?? []
  const token = decodeURIComponent(fragment)
  const headers = { authorization: `Bearer ${token}` }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
  return { url, token, headers, ask }
}
