import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { build } from 'vite'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

const executablePath = process.env.TOOLPOST_CHROMIUM ?? PLACES.find(place => existsSync(place))

/** Whether the browser tests can run. Where they must, a missing Chromium makes them fail instead. */
export const hasBrowser = executablePath !== undefined || process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

if (!hasBrowser)
  process.stderr.write('No Chromium on this machine: the browser tests of the console are passed over.\n')

export interface BrowserOptions {
  /** A WAV file that is heard once whenever a page opens the microphone. The page still needs the permission. */
  microphone?: string | undefined
}

export function openBrowser({ microphone }: BrowserOptions = {}): Promise<Browser> {
  return chromium.launch({
    ...(executablePath && { executablePath }),
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

/** The page, built from the sources as they are now. */
export async function buildPage(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'toolpost-console-'))
  const configFile = fileURLToPath(new URL('../vite.config.ts', import.meta.url))
  await build({ configFile, logLevel: 'error', build: { outDir: folder } })
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

export interface WatchedPage {
  page: Page
  /** Whatever the page said that it should not: errors, warnings, breaches of its policy. */
  complaints: string[]
  close: () => Promise<void>
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  context.setDefaultTimeout(5_000)
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
  await page.goto(url)
  return { page, complaints, close: () => context.close() }
}
