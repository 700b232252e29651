import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { openBrowser, openPage, type WatchedPage } from './browser.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

/** The product itself and a browser, for all tests of a file; each opens a tab of its own. */
export function productUnderTest(): {
  address: (path: string) => URL
  /** What the owner of the gateway sends. */
  owner: () => Record<string, string>
  open: (view: string) => Promise<WatchedPage>
  call: (tool: string, args: object, headers?: Record<string, string>) => Promise<Response>
} {
  let product: RealGateway
  let browser: Browser
  beforeAll(async () => {
    product = await startProduct()
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await product?.stop()
  })
  const address = (path: string) => new URL(path, product.url)
  return {
    address,
    owner: () => product.headers,
    async open(view) {
      const watched = await openPage(browser)
      watched.page.setDefaultTimeout(15_000)
      await watched.page.goto(product.console)
      await watched.page.goto(address(`#${view}`).href)
      return watched
    },
    call: (tool, args, headers = {}) =>
      fetch(address(`api/tools/${tool}/call`), {
        method: 'POST',
        headers: { ...product.headers, ...headers },
        body: JSON.stringify(args),
      }),
  }
}
