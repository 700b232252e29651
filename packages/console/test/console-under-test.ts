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

export interface Opened extends WatchedPage {
  gateway: FakeGateway
}

interface OpenOptions extends BrowserContextOptions {
  token?: string
  /** The part of the address behind the `#`. */
  at?: string
  /** Whether the gateway has speech to text. */
  voice?: boolean
  /** A tab of its own, for a test that changes more of it than a new address undoes. */
  fresh?: boolean
}

/**
 * Every test gets a gateway of its own, and by that an origin with nothing stored. The browser and its tabs are
 * those of the file: opening a tab takes longer than most tests.
 */
export function consoleUnderTest(browserOptions: BrowserOptions = {}): {
  folder: () => string
  open: (options?: OpenOptions) => Promise<Opened>
} {
  let browser: Browser
  let built: Awaited<ReturnType<typeof buildPage>>
  const closers: (() => Promise<unknown>)[] = []
  const tabs = new Map<string, WatchedPage>()
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
  const tabFor = async (options: BrowserContextOptions): Promise<WatchedPage> => {
    const key = JSON.stringify(options)
    const tab = tabs.get(key) ?? (await openPage(browser, options))
    tabs.set(key, tab)
    tab.complaints.length = 0
    closers.push(() => tab.page.goto('about:blank'))
    return tab
  }
  const freshTab = async (options: BrowserContextOptions): Promise<WatchedPage> => {
    const tab = await openPage(browser, options)
    closers.push(tab.close)
    return tab
  }
  const open = async ({
    token,
    at = '/tools',
    voice = false,
    fresh = false,
    ...options
  }: OpenOptions = {}) => {
    const gateway = await new FakeGateway({ page: built.folder, ...(token && { token }), voice }).start()
    closers.push(() => gateway.stop())
    const tab = await (fresh ? freshTab : tabFor)(options)
    await tab.page.goto(`${gateway.url}/#${at}`)
    return { ...tab, gateway }
  }
  return { folder: () => built.folder, open }
}
