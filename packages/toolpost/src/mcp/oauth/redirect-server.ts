import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeError } from '../server-failure.ts'
import { loginPage } from './login-page.ts'
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
