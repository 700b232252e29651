import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import {
  type BrowserOptions,
  buildPage,
  hasBrowser,
  openBrowser,
  openPage,
  type WatchedPage,
} from './browser.ts'
import { FakeGateway } from './fake-gateway.ts'

interface Opened extends WatchedPage {
  gateway: FakeGateway
}

interface OpenOptions extends BrowserContextOptions {
  token?: string
  /** The part of the address behind the `#`. */
  at?: string
  /** Whether the gateway has speech to text. */
  voice?: boolean
}

/** Builds the page once for a test file; every test gets a gateway and a tab of its own. */
export function consoleUnderTest(browserOptions: BrowserOptions = {}): {
  folder: () => string
  open: (options?: OpenOptions) => Promise<Opened>
} {
  let browser: Browser
  let built: Awaited<ReturnType<typeof buildPage>>
  const closers: (() => Promise<void>)[] = []
  beforeAll(async () => {
    if (!hasBrowser) return
    built = await buildPage()
    browser = await openBrowser(browserOptions)
  }, 60_000)
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    await browser?.close()
    await built?.remove()
  })
  const open = async ({
    token,
    at = '/tools',
    voice = false,
    ...options
  }: OpenOptions = {}): Promise<Opened> => {
    const gateway = await new FakeGateway({ page: built.folder, ...(token && { token }), voice }).start()
    closers.push(() => gateway.stop())
    const watched = await openPage(browser, `${gateway.url}/#${at}`, options)
    closers.push(watched.close)
    return { ...watched, gateway }
  }
  return { folder: () => built.folder, open }
}
