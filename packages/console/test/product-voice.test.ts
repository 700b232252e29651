import { spawnSync } from 'node:child_process'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from './browser.ts'
import { type SpokenFile, spokenFile, talkButton, talkFor } from './microphone.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

const speaks = spawnSync('espeak-ng', ['--version']).status === 0
const isRequired = process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

/** Everything is real here, the speech model and the spoken sentence too; only the microphone plays a file. */
describe.runIf(hasBrowser && (speaks || isRequired))('holding to talk, on the product itself', () => {
  let product: RealGateway
  let browser: Browser
  let spoken: SpokenFile
  beforeAll(async () => {
    spoken = spokenFile('turn on the living room light')
    product = await startProduct(['--voice'])
    browser = await openBrowser({ microphone: spoken.file })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await product?.stop()
    spoken?.remove()
  })

  it('switches the light that was named', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await openPage(browser, { permissions: ['microphone'] })
    page.setDefaultTimeout(30_000)
    await page.goto(product.console)
    await page.goto(`${product.url}#/chat`)
    await talkButton(page).waitFor()
    await talkFor(page, 3)
    await page
      .getByText(/Living Room Light is (on|dimmed)/)
      .first()
      .waitFor()
    await page.getByText('control_zwave_device').first().waitFor()
    await page
      .getByText(/turn on the living room light/i)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })
})
