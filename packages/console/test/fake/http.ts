import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'

/** No laxer than the policy of the real gateway. */
const PAGE_POLICY = [
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'",
  "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ')

export const JSON_TYPE = { 'content-type': 'application/json' }

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** A file of the page, as the real gateway sends it. */
export async function sendPage(folder: string, pathname: string, response: ServerResponse): Promise<void> {
  const file = join(folder, normalize(pathname === '/' ? '/index.html' : pathname))
  const content = await readFile(file).catch(() => undefined)
  const headers = {
    'content-type': TYPES[extname(file)] ?? 'text/plain',
    'content-security-policy': PAGE_POLICY,
    'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
  }
  response.writeHead(content ? 200 : 404, headers).end(content)
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(value))
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
