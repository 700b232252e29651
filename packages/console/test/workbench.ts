import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { openBrowser, openPage, type WatchedPage } from './browser.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

const server = fileURLToPath(new URL('./workbench-server.mjs', import.meta.url))
const config = {
  mcpServers: {
    workbench: {
      command: process.execPath,
      args: [server],
      sentences: { steps: ['count the sheep'] },
    },
    broken: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
  },
  mcp: { retry: { attempts: 1 } },
}

const DESK = { width: 1440, height: 900 }

/** The product itself with a server that has a tool of every kind, and a tab for all tests of the file. */
export class Workbench {
  #product: RealGateway | undefined
  #browser: Browser | undefined
  #tab: WatchedPage | undefined

  constructor() {
    beforeAll(() => this.#start(), 60_000)
    beforeEach(async () => {
      this.complaints.length = 0
      await this.page.setViewportSize(DESK)
    })
    afterAll(async () => {
      await this.#browser?.close()
      await this.#product?.stop()
    })
  }

  async #start(): Promise<void> {
    this.#product = await startProduct([], config)
    this.#browser = await openBrowser()
    this.#tab = await openPage(this.#browser, { viewport: DESK })
    this.page.setDefaultTimeout(15_000)
    await this.page.goto(this.#product.console)
    await this.page.getByText('1 of 2 servers ready').waitFor()
  }

  get url(): string {
    return this.#product?.url ?? ''
  }

  get page(): Page {
    return this.#tab?.page as Page
  }

  /** What the browser had to say since the test began. */
  get complaints(): string[] {
    return this.#tab?.complaints ?? []
  }

  get result(): Locator {
    return this.page.getByRole('region', { name: 'Result', exact: true }).first()
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  clipboard(): Promise<string> {
    return this.page.evaluate(() => navigator.clipboard.readText())
  }

  async openTool(name: string): Promise<void> {
    await this.page.goto(`${this.url}#/tools/${name}`)
    await this.page.getByRole('heading', { name, exact: true }).waitFor()
  }

  async runTool(name: string): Promise<void> {
    await this.openTool(name)
    await this.button('Run').click()
    await this.result.getByText('Succeeded').waitFor()
  }

  /** A call that is none of the page's. */
  async call(name: string): Promise<unknown> {
    const headers = this.#product?.headers ?? {}
    return (await fetch(new URL(`api/tools/${name}/call`, this.url), { method: 'POST', headers })).json()
  }
}
