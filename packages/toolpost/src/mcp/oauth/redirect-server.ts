import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeError } from '../server-failure.ts'
import { REDIRECT_PATH } from './oauth-options.ts'

export interface RedirectServer {
  /** The redirect URL. */
  url: string
  close(): void
}

/**
 * Listens on 127.0.0.1 for the redirect after a login, and passes the answer to `finish`, which resolves to the name of the
 * server; the page it returns shows the outcome. Rejects if the port is taken.
 */
export async function listenForRedirect(
  finish: (answer: URLSearchParams) => Promise<string>,
  port = 0,
): Promise<RedirectServer> {
  const server = createServer((request, response) => {
    void answerOf(request, finish).then(page => write(page, response))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}${REDIRECT_PATH}`,
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

async function answerOf(
  { url = '/', method }: IncomingMessage,
  finish: (answer: URLSearchParams) => Promise<string>,
): Promise<Response> {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
  if (method !== 'GET' || pathname !== REDIRECT_PATH) return new Response('Not found', { status: 404 })
  return finishedPage(searchParams, finish)
}

/** Finishes a login with the browser's answer; always resolves to a page. */
export async function finishedPage(
  answer: URLSearchParams,
  finish: (answer: URLSearchParams) => Promise<string>,
  home?: string,
): Promise<Response> {
  try {
    const server = await finish(answer)
    return loginPage('Logged in', `Toolpost is logged in to '${server}'. You can close this window.`, home)
  } catch (error) {
    return loginPage('Not logged in', describeError(error), home)
  }
}

async function write(page: Response, response: ServerResponse): Promise<void> {
  response.writeHead(page.status, { ...Object.fromEntries(page.headers), connection: 'close' })
  response.end(await page.text())
}

/** The page a browser shows at the end of a login. */
function loginPage(title: string, text: string, home?: string): Response {
  const link = home === undefined ? '' : `<p><a href="${escaped(home)}">Back to Toolpost</a></p>`
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1rem}</style></head>
<body><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${link}</body></html>
`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      // The address of this page has the code in it.
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`)
}
