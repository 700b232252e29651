import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open, folder } = consoleUnderTest()
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true }

/** Every view, and something that is there once it is whole. */
const VIEWS: [address: string, sign: string][] = [
  ['/tools', '.list-item'],
  ['/tools/control_zwave_device', '#argument_deviceName'],
  ['/tools/send_note', '#argument_text'],
  ['/tools/echo', '.json-input'],
  ['/calls', '.plot-place canvas'],
  ['/calls/139', '.call-detail .result'],
  ['/servers', '.server'],
  ['/chat', '.chat-beginning .chip'],
]

describe.runIf(hasBrowser)('the page', () => {
  it.each([
    ['in light', { colorScheme: 'light' }],
    ['in dark', { colorScheme: 'dark' }],
    ['on a phone', phone],
  ] as const)(
    'has no serious finding of axe and no complaint of the browser, in any view, %s',
    async (_, options) => {
      // axe is put in as text, which the page's policy rightly forbids.
      const { page, complaints } = await open({ ...options, bypassCSP: true })
      for (const [address, sign] of VIEWS) {
        await page.goto(`${page.url().split('#')[0]}#${address}`)
        await page.locator(sign).first().waitFor()
        expect(await seriousFindings(page), address).toEqual([])
      }
      expect(complaints).toEqual([])
    },
    60_000,
  )

  it('breaks no rule of its policy, in any view', async () => {
    const { page, complaints } = await open()
    for (const [address, sign] of VIEWS) {
      await page.goto(`${page.url().split('#')[0]}#${address}`)
      await page.locator(sign).first().waitFor()
    }
    expect(complaints).toEqual([])
  })

  it('never scrolls sideways on a phone', async () => {
    const { page } = await open(phone)
    for (const [address, sign] of VIEWS) {
      await page.goto(`${page.url().split('#')[0]}#${address}`)
      await page.locator(sign).first().waitFor()
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(width, address).toBeLessThanOrEqual(360)
    }
  })

  it('goes from the list of tools to one and back on a phone', async () => {
    const { page } = await open(phone)
    await page.getByRole('link', { name: /^echo/ }).click()
    await page.getByRole('heading', { name: 'echo' }).waitFor()
    expect(await page.getByLabel('Search tools').isVisible()).toBe(false)
    await page.getByRole('link', { name: 'All tools' }).click()
    await page.getByLabel('Search tools').waitFor()
  })

  it('is dark where the system is, and as the switch says', async () => {
    const { page } = await open({ colorScheme: 'dark' })
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(await background()).toBe('rgb(15, 18, 23)')
    await page.getByRole('button', { name: /Switch to light/ }).click()
    expect(await background()).toBe('rgb(246, 247, 249)')
    await page.reload()
    expect(await background()).toBe('rgb(246, 247, 249)')
  })

  it('says that the gateway is gone, and comes back by itself', async () => {
    const { page, gateway } = await open({ at: '/tools/echo' })
    await page.getByText('Connected').waitFor()
    await gateway.stop()
    await page.getByText('The gateway does not answer.').waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    // Another process, with other calls: the old ones must not stay.
    gateway.calls = []
    await gateway.start()
    await page.getByText('Connected').waitFor()
    expect(await page.getByText('The gateway does not answer.').count()).toBe(0)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'Calls' }).click()
    await expect.poll(() => page.locator('.call-table tbody tr').count()).toBe(1)
  })

  it('takes the token out of the address, and keeps it for the tab', async () => {
    const { page, complaints } = await open({ token: 'a-secret-token', at: 'token=a-secret-token' })
    await page.getByText('10 tools').waitFor()
    expect(page.url()).not.toContain('secret')
    await page.reload()
    await page.getByText('10 tools').waitFor()
    await page.goto(`${page.url().split('#')[0]}#/tools/math_eval`)
    await page.getByRole('button', { name: 'curl' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('Bearer $TOOLPOST_TOKEN')
    expect(complaints).toEqual([])
  })

  it('asks for a token where none was given, and says when it is wrong', async () => {
    const { page } = await open({ token: 'a-secret-token' })
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The gateway refused this token.').waitFor()
    await page.getByLabel('Token').fill('a-secret-token')
    await page.keyboard.press('Enter')
    await page.getByText('10 tools').waitFor()
  })

  it('is under 250 kB, compressed, and shows the first view in under a second', async () => {
    const files = readdirSync(folder(), { recursive: true, withFileTypes: true }).filter(entry =>
      entry.isFile(),
    )
    const bytes = files.map(({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000)
    const { page } = await open()
    await page.getByText('10 tools').waitFor()
    await page.reload({ waitUntil: 'commit' })
    await page.getByText('10 tools').waitFor()
    const shownAt = await page.evaluate(() => performance.now())
    expect(shownAt).toBeLessThan(1_000)
  })
})
