import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { packageRoot } from '../util/package-root.ts'

const MISSING_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Toolpost</title>
<h1>Toolpost is running</h1><p>The console is not built, so there is no page here; <code>npm run build</code> builds it.
Everything else works: <a href="/healthz">health</a>, <a href="/api/openapi.json">the API</a>.</p></html>`

const OWN = "'self'"
const NOTHING = ["'none'"]

/** The page may only load and call what this gateway serves. Scripts are never inline. */
const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: [OWN],
    scriptSrc: [OWN],
    connectSrc: [OWN],
    // Plots and forms set styles on elements.
    styleSrc: [OWN, "'unsafe-inline'"],
    // Images and sound from tool results.
    imgSrc: [OWN, 'data:', 'blob:'],
    mediaSrc: [OWN, 'data:', 'blob:'],
    objectSrc: NOTHING,
    baseUri: NOTHING,
    formAction: NOTHING,
    frameAncestors: NOTHING,
  },
  // The microphone is for the chat's talk button.
  permissionsPolicy: { camera: [], geolocation: [], microphone: ['self'] },
  xFrameOptions: 'DENY',
  // The gateway speaks plain HTTP; this is up to whatever terminates TLS in front of it.
  strictTransportSecurity: false,
})

/** The folder of the built console, if any. In a clone, the build itself, not the copy that packing left behind. */
function findConsole(): string | undefined {
  const folders = [join(packageRoot(), 'console')]
  try {
    const manifest = createRequire(import.meta.url).resolve('toolpost-console/package.json')
    folders.unshift(join(dirname(manifest), 'dist'))
  } catch {
    // Installed from a package, which has a copy.
  }
  return folders.find(folder => existsSync(join(folder, 'index.html')))
}

/** The page and its files: which paths they have, and the response for one. */
export function consoleFiles(folder = findConsole()) {
  const app = new Hono()
  app.use(pageHeaders, async (c, next) => {
    await next()
    // Files named after their content can be cached forever.
    const isNamedByContent = c.req.path.startsWith('/assets/')
    c.header('cache-control', isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache')
  })
  if (folder !== undefined) app.use(serveStatic({ root: folder }))
  app.get('/', c => c.html(MISSING_PAGE))
  return {
    has(path: string): boolean {
      if (path === '/') return true
      // Longer names are none of ours, and an error of the file system.
      if (folder === undefined || !/^(\/[\w-][\w.-]{0,200}){1,5}$/.test(path)) return false
      return statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() ?? false
    },
    answer: (request: Request) => app.fetch(request),
  }
}
