import type { Send } from '../http-fetch.ts'
import { aboutLogin } from '../server-failure.ts'
import { MAX_RENEWALS } from './limits.ts'
import type { ServerLogin } from './server-login.ts'

/**
 * Sends requests with the token of a login. One rejected for its token is sent again with another, since the server has not
 * processed it. Rejects with a NeedsLoginError if the user has to log in.
 */
export function authorizedFetch(login: ServerLogin): Send {
  const hasAnother = (response: Response, token?: string) => login.hasAnother(response, token).catch(rethrow)
  return async (url, init) => {
    for (let renewals = 0; ; renewals++) {
      const token = await login.tokenFor(url).catch(rethrow)
      const response = await fetch(url, token === undefined ? init : withToken(init, token))
      if (renewals === MAX_RENEWALS || !(await hasAnother(response, token))) return response
      await response.body?.cancel()
    }
  }
}

function rethrow(error: unknown): never {
  throw aboutLogin(error)
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}
