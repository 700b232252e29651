import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Needs a third less processor time, but has neither microphone nor sound. */
const SHELL = '/usr/bin/chromium-headless-shell'

const executablePath = process.env.TOOLPOST_CHROMIUM ?? PLACES.find(place => existsSync(place))
const silentPath = !process.env.TOOLPOST_CHROMIUM && existsSync(SHELL) ? SHELL : executablePath

/** Whether the browser tests can run. If they must, a missing Chromium makes them fail instead. */
export const hasBrowser = executablePath !== undefined || process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

if (!hasBrowser)
  process.stderr.write('No Chromium on this machine: skipping the browser tests of the console.\n')

export interface BrowserOptions {
  /** A WAV file that is heard once whenever a page opens the microphone. The page still needs the permission. */
  microphone?: string | undefined
}

export function openBrowser({ microphone }: BrowserOptions = {}): Promise<Browser> {
  const path = microphone ? executablePath : silentPath
  return chromium.launch({
    ...(path && { executablePath: path }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...(microphone ? microphoneArguments(microphone) : []),
    ],
  })
}

function microphoneArguments(file: string): string[] {
  return ['--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${file}%noloop`]
}

/** The page, built from the sources as they are now: what `npm test` has built before, if that is up to date. */
export async function buildPage(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const dist = join(root, 'dist')
  if (isUpToDate(dist)) return { folder: dist, remove: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-console-'))
  const require = createRequire(import.meta.url)
  const vite = join(dirname(require.resolve('vite/package.json')), 'bin', 'vite.js')
  // In a process of its own: this one says that it is a test, and the page would become one of React's development builds.
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', root, '--outDir', folder, '--logLevel', 'error'],
    { env: { ...process.env, NODE_ENV: 'production' } },
  )
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

function isUpToDate(dist: string): boolean {
  const page = join(dist, 'index.html')
  if (!existsSync(page)) return false
  const sources = ['src', 'public'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name =>
      join(root, folder, name),
    ),
  )
  const files = [...sources, join(root, 'index.html'), join(root, 'vite.config.ts')]
  const built = statSync(page).mtimeMs
  return files.every(file => file.includes('.test.') || statSync(file).mtimeMs <= built)
}

export interface WatchedPage {
  page: Page
  /** Whatever the page should not have logged: errors, warnings, breaches of its policy. */
  complaints: string[]
  close: () => Promise<void>
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  await page.addInitScript(() => {
    // biome-ignore lint/suspicious/noConsole: this is how a breach is noticed
    addEventListener('securitypolicyviolation', event => console.error(`CSP: ${event.violatedDirective}`))
  })
  return { page, complaints, close: () => context.close() }
}
