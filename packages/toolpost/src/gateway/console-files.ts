import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative, sep } from 'node:path'
import { packageRoot } from '../runtime/package-root.ts'
import { PAGE_HEADERS } from './http/page-headers.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.map': 'application/json; charset=utf-8',
}

/** Files whose name changes with their content may be kept for ever. */
const NAMED_BY_CONTENT = /^\/assets\//

const MISSING_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Toolpost</title></head>
<body><h1>Toolpost runs</h1>
<p>The console is not built here, so there is no page. Everything else works:
<a href="/api/tools">tools</a>, <a href="/api/servers">servers</a>, <a href="/healthz">health</a>,
<a href="/api/openapi.json">the API</a>. In the source tree <code>npm run build</code> makes the console.</p>
</body></html>
`

/** Where the built console is; `undefined` where there is none. */
export function findConsole(): string | undefined {
  const folders = [join(packageRoot(), 'console'), consolePackage()]
  return folders.find(folder => folder !== undefined && existsSync(join(folder, 'index.html')))
}

function consolePackage(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('toolpost-console/package.json')), 'dist')
  } catch {
    return undefined
  }
}

/** The files of the console. Only what was found in its folder is ever given out. */
export class ConsoleFiles {
  readonly #folder: string | undefined
  #files = new Map<string, Buffer>()
  #builtAt = 0

  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** Whether a path is one of the page's own, which a browser asks for without a token. */
  isOwn(path: string): boolean {
    if (path.startsWith('/api/')) return false
    this.#refresh()
    return path === '/' || this.#files.has(path)
  }

  answer(path: string): Response | undefined {
    this.#refresh()
    const name = path === '/' ? '/index.html' : path
    const content = this.#files.get(name)
    if (content) return page(content, name)
    return path === '/' ? page(Buffer.from(MISSING_PAGE), '/index.html') : undefined
  }

  /** Read again after a build. */
  #refresh(): void {
    const builtAt = this.#folder ? changedAt(join(this.#folder, 'index.html')) : undefined
    if (!this.#folder || builtAt === undefined || builtAt === this.#builtAt) return
    this.#builtAt = builtAt
    this.#files = readAll(this.#folder)
  }
}

function changedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs
}

function readAll(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return new Map(files.map(file => [`/${relative(folder, file).split(sep).join('/')}`, readFileSync(file)]))
}

function page(content: Buffer, name: string): Response {
  const headers = {
    ...PAGE_HEADERS,
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'cache-control': NAMED_BY_CONTENT.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  return new Response(new Uint8Array(content), { headers })
}
