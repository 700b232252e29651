import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

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

export interface WatchedPage {
  page: Page
  /** Whatever the page should not have logged: errors, warnings, breaches of its policy. */
  complaints: string[]
  close: () => Promise<void>
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  context.setDefaultTimeout(15_000)
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
