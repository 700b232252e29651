import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type BrowserOptions, hasBrowser, openBrowser, openPage, type WatchedPage } from './browser.ts'

const command = fileURLToPath(new URL('../../toolpost/bin/toolpost.cjs', import.meta.url))

/** `toolpost up` in a folder of its own, offline; the built-in example unless a configuration is given. */
export class Product {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolpost-console-'))
  url = ''
  /** The address of the console, with the token. */
  console = ''
  #child: ChildProcess | undefined
  readonly #flags: string[]

  constructor({ flags = [], config }: ProductOptions) {
    this.#flags = flags
    if (config) writeFileSync(join(this.folder, 'toolpost.json'), JSON.stringify(config))
  }

  async start(port = '0'): Promise<void> {
    const env = { ...process.env, TOOLPOST_TOKEN: '', OLLAMA_HOST: '127.0.0.1:9', ANTHROPIC_API_KEY: '' }
    this.#child = spawn(process.execPath, [command, 'up', '--port', port, ...this.#flags], {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    for await (const line of createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })) {
      const [, address = ''] = /^Console {2}(\S+)$/.exec(line) ?? []
      if (!address) continue
      this.console = address
      this.url = address.split('#')[0] ?? ''
      return
    }
    throw new Error('toolpost up exited without printing its address')
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${decodeURIComponent(this.console.split('#token=')[1] ?? '')}` }
  }

  /** As an HTTP client that is not the console. */
  async call(tool: string, args: object): Promise<{ success: boolean; text?: string }> {
    const response = await fetch(new URL(`api/tools/${tool}/call`, this.url), {
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify(args),
    })
    return (await response.json()) as { success: boolean; text?: string }
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null) return
    await new Promise(resolve => {
      child.once('exit', resolve)
      child.kill('SIGTERM')
    })
  }
}

export interface ProductOptions {
  flags?: string[]
  config?: object
}

/** A product and a browser for all tests of a file; each test opens a tab of its own. */
export function productUnderTest(options: ProductOptions & BrowserOptions = {}): {
  product: Product
  open: (view: string, options?: BrowserContextOptions) => Promise<WatchedPage>
} {
  const product = new Product(options)
  let browser: Browser
  beforeAll(async () => {
    if (!hasBrowser) return
    await product.start()
    browser = await openBrowser(options)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await product.stop()
    rmSync(product.folder, { recursive: true, force: true })
  })
  return {
    product,
    async open(view, context) {
      const watched = await openPage(browser, context)
      await watched.page.goto(product.console)
      await watched.page.goto(new URL(`#${view}`, product.url).href)
      return watched
    },
  }
}

export const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click()
export const resultIn = (page: Page) => page.getByRole('region', { name: 'Result', exact: true })
export const callsIn = (page: Page) =>
  page.getByRole('region', { name: 'Calls, newest first' }).getByRole('link')
