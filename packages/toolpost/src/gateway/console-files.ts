import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { packageRoot } from '../util/package-root.ts'

const MISSING_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Toolpost</title></head>
<body><h1>Toolpost is running</h1>
<p>The console is not built, so there is no page here. Everything else works:
<a href="/api/tools">tools</a>, <a href="/api/servers">servers</a>, <a href="/healthz">health</a>,
<a href="/api/openapi.json">the API</a>. In the source tree, <code>npm run build</code> builds the console.</p>
</body></html>
`

/** The page may only load and call what this gateway serves. Scripts are never inline. */
const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'self'"],
    scriptSrc: ["'self'"],
    // Plots and forms set styles on elements.
    styleSrc: ["'self'", "'unsafe-inline'"],
    // Images and sound from tool results.
    imgSrc: ["'self'", 'data:', 'blob:'],
    mediaSrc: ["'self'", 'data:', 'blob:'],
    connectSrc: ["'self'"],
    objectSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  // The microphone is for the chat's talk button.
  permissionsPolicy: { camera: [], geolocation: [], microphone: ['self'] },
  xFrameOptions: 'DENY',
  // The gateway speaks plain HTTP; this is up to whatever terminates TLS in front of it.
  strictTransportSecurity: false,
})

/** The folder of the built console, if any. In a clone, the build itself, not the copy that packing left behind. */
export function findConsole(): string | undefined {
  const folders = [consolePackage(), join(packageRoot(), 'console')]
  return folders.find(folder => folder !== undefined && existsSync(join(folder, 'index.html')))
}

function consolePackage(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('toolpost-console/package.json')), 'dist')
  } catch {
    return undefined
  }
}

/** The page and its files. */
export class ConsoleFiles {
  readonly #folder: string | undefined
  readonly #app = new Hono()

  constructor(folder: string | undefined) {
    this.#folder = folder !== undefined && existsSync(folder) ? folder : undefined
    this.#app.use(pageHeaders, addCaching)
    if (this.#folder !== undefined) this.#app.use(serveStatic({ root: this.#folder }))
    this.#app.get('/', c => c.html(MISSING_PAGE))
  }

  /** Whether a path is one of the page's own files, which a browser requests without a token. */
  has(path: string): boolean {
    if (path === '/') return true
    if (this.#folder === undefined || !/^(\/[\w-][\w.-]*)+$/.test(path)) return false
    try {
      return statSync(join(this.#folder, path), { throwIfNoEntry: false })?.isFile() ?? false
    } catch {
      // Too long for a file name.
      return false
    }
  }

  answer(request: Request): Response | Promise<Response> {
    return this.#app.fetch(request)
  }
}

/** Files named after their content can be cached forever. */
const addCaching: MiddlewareHandler = async (c, next) => {
  await next()
  const isNamedByContent = c.req.path.startsWith('/assets/')
  c.header('cache-control', isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache')
}
