import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { describeError } from '../server-failure.ts'
import type { Logins } from './logins.ts'
import { REDIRECT_PATH } from './oauth-options.ts'

type Finish = Logins['finish']

/** Listens on 127.0.0.1 for the redirect after a login; the page it returns shows the outcome. Rejects if the port is taken. */
export async function listenForRedirect(finish: Finish, port = 0): Promise<{ url: string; close(): void }> {
  const app = new Hono().get(REDIRECT_PATH, c => finishedPage(new URL(c.req.url).searchParams, finish))
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${REDIRECT_PATH}`,
    close: () => void server.close(),
  }
}

const HEADERS = {
  // An open connection would keep the process alive.
  connection: 'close',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  // The address of this page has the code in it.
  'referrer-policy': 'no-referrer',
}

/** Finishes a login with the browser's answer; always resolves to a page, with a link to `home`. */
export async function finishedPage(
  answer: URLSearchParams,
  finish: Finish,
  home?: string,
): Promise<Response> {
  const [title, text] = await finish(answer).then(
    server => ['Logged in', `Toolpost is logged in to '${server}'. You can close this window.`],
    error => ['Not logged in', describeError(error)],
  )
  const shown = String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)
  const link = home === undefined ? '' : `<p><a href="${home}">Back to Toolpost</a></p>`
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font:1.1rem/1.5 system-ui;max-width:34rem;margin:20vh auto"><h1>${title}</h1><p>${shown}</p>${link}`
  return new Response(html, { headers: HEADERS })
}
