import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest, type Opened } from './console-under-test.ts'

const { open, folder } = consoleUnderTest()
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true }

/** Every view, and something that is there once it is whole. */
const VIEWS: [address: string, sign: string][] = [
  ['/', '.home-grid'],
  ['/tools', '.list-item'],
  ['/tools/control_zwave_device', '#argument_deviceName'],
  ['/tools/send_note', '#argument_text'],
  ['/tools/echo', '.json-input'],
  ['/calls', '.call-table tbody tr'],
  ['/calls/139', '.call-detail .result'],
  ['/approvals', '.approvals .approval'],
  ['/servers?add', '.add-server'],
  ['/runs', '.empty, .run-table'],
  ['/chat', '.chat-beginning .chip'],
]

const ASKED = { server: 'zwave', caller: 'claude', because: 'the tool is marked as destructive' }

/** Shows every view in turn, with a short list of calls, since axe looks at every row, and the notice of an approval. */
async function everyView({ page, gateway }: Opened, look: (address: string) => Promise<void>): Promise<void> {
  gateway.calls = gateway.calls.slice(-12)
  gateway.runs.list = []
  gateway.ask('control_lock', { deviceName: 'Back Door Lock', action: 'unlock' }, ASKED)
  await page.reload()
  for (const [address, sign] of VIEWS) {
    await page.goto(`${gateway.url}/#${address}`)
    await page.locator(sign).first().waitFor()
    await look(address)
  }
}

describe.runIf(hasBrowser)('the page', () => {
  it('has no serious finding of axe in any view, light on a desk and dark on a phone, where it never scrolls sideways', async () => {
    const opened = await open({ fresh: true, reducedMotion: 'reduce' })
    const { page, complaints } = opened
    await everyView(opened, async address => {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
      expect(await seriousFindings(page), address).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.setViewportSize(phone.viewport)
      expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(
        360,
      )
      expect(await seriousFindings(page), address).toEqual([])
    })
    expect(complaints).toEqual([])
  }, 60_000)

  it('goes from the list of tools to one and back on a phone', async () => {
    const { page } = await open(phone)
    await page.getByRole('link', { name: /^echo/ }).click()
    await page.getByRole('heading', { name: 'echo' }).waitFor()
    expect(await page.getByLabel('Search tools').isVisible()).toBe(false)
    await page.getByRole('link', { name: 'All tools' }).click()
    await page.getByLabel('Search tools').waitFor()
  })

  it('is dark if the system is, and as the switch says', async () => {
    const { page } = await open({ colorScheme: 'dark' })
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(await background()).toBe('rgb(13, 15, 19)')
    await page.getByRole('button', { name: /Switch to light/ }).click()
    expect(await background()).toBe('rgb(247, 248, 250)')
    await page.reload()
    expect(await background()).toBe('rgb(247, 248, 250)')
  })

  it('says that the gateway is gone, and comes back by itself', async () => {
    const { page, gateway } = await open({ at: '/tools/echo' })
    await page.getByText('Connected').waitFor()
    await gateway.stop()
    await page.getByText('The gateway is not responding.').waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    // Another process, with other calls: the old ones must not stay.
    gateway.calls = []
    await gateway.start()
    await page.getByText('Connected').waitFor()
    expect(await page.getByText('The gateway is not responding.').count()).toBe(0)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Succeeded').waitFor()
    await page.getByRole('link', { name: 'Calls' }).click()
    await expect.poll(() => page.locator('.call-table tbody tr').count()).toBe(1)
  })

  it('loads what it needs for a view that was first opened while the gateway was away', async () => {
    const { page, gateway } = await open({ at: '/', fresh: true })
    await page.getByText('Three things to try').waitFor()
    await gateway.stop()
    await page.evaluate(() => location.assign('#/tools/math_eval'))
    await page.getByText('The gateway is not responding.').waitFor()
    await page.getByText('Loading the form').waitFor({ state: 'attached' })
    await gateway.start()
    await page.getByLabel('expression').fill('1 + 1')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Succeeded').waitFor()
  })

  it('takes the token out of the address, and keeps it in the browser', async () => {
    const { page, complaints } = await open({ token: 'a-secret-token', at: 'token=a-secret-token' })
    await page.getByText('10 tools').waitFor()
    expect(page.url()).not.toContain('secret')
    await page.reload()
    await page.getByText('10 tools').waitFor()
    const origin = page.url().split('#')[0] ?? ''
    const tab = await page.context().newPage()
    await tab.goto(origin)
    await tab.getByText('10 tools').waitFor()
    await tab.close()
    await page.goto(`${origin}#/tools/math_eval`)
    await page.getByRole('button', { name: 'curl' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('Bearer $TOOLPOST_TOKEN')
    expect(complaints).toEqual([])
  })

  it('asks for a token if none was given, and says when it is wrong', async () => {
    const { page } = await open({ token: 'a-secret-token' })
    await page.getByText('Run toolpost token in the folder of the gateway to see it.').waitFor()
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The gateway refused this token.').waitFor()
    await page.getByLabel('Token').fill('a-secret-token')
    await page.keyboard.press('Enter')
    await page.getByText('10 tools').waitFor()
  })

  it('is under 300 kB, compressed, and shows the first view in under a second', {
    timeout: 30_000,
  }, async () => {
    const files = readdirSync(folder(), { recursive: true, withFileTypes: true }).filter(entry =>
      entry.isFile(),
    )
    const bytes = files.map(({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000)
    const { page } = await open()
    await page.getByText('10 tools').waitFor()
    const reload = async () => {
      await page.reload({ waitUntil: 'commit' })
      await page.getByText('10 tools').waitFor()
      return page.evaluate(() => performance.now())
    }
    // On a busy machine not every time.
    await expect.poll(reload, { timeout: 20_000 }).toBeLessThan(1_000)
  })
})
