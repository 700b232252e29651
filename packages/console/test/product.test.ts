import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from './browser.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

/** Everything is real here: the built page in Chromium, `toolpost up`, the Z-Wave server and its virtual home. */
describe.runIf(hasBrowser)('the console on the product itself', () => {
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

  async function open(view: string) {
    const watched = await openPage(browser)
    watched.page.setDefaultTimeout(15_000)
    await watched.page.goto(`${product.url}#${view}`)
    return watched
  }

  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click()

  it('makes a call, shows its failure, and cancels one that does not end', async () => {
    const { page, complaints, close } = await open('/tools/math_eval')
    await page.getByLabel('expression').fill('12 % of 85')
    await run(page)
    await page.getByText('10.2').first().waitFor()
    await page.getByLabel('expression').fill('1 +')
    await run(page)
    await page
      .getByText(/Unexpected end of expression/)
      .first()
      .waitFor()
    await page.getByLabel('expression').fill('f(n) = n < 2 ? n : f(n-1) + f(n-2); f(60)')
    await run(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page
      .getByText(/cancelled/i)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('switches a light of the virtual home from the chat, and shows the call', async () => {
    const { page, complaints, close } = await open('/chat')
    await page.getByRole('textbox').fill('turn on the living room light')
    await page.keyboard.press('Enter')
    await page
      .getByText(/Living Room Light is (on|dimmed)/)
      .first()
      .waitFor()
    await page.getByText('control_zwave_device').first().waitFor()
    const answer = await fetch(new URL('api/tools/get_device_sensor_data/call', product.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ deviceName: 'Living Room Light' }),
    })
    expect(await answer.json()).toMatchObject({ success: true, text: expect.not.stringMatching(/is off/) })
    await page.goto(`${product.url}#/calls`)
    await page
      .getByRole('row', { name: /control_zwave_device.*chat/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('holds a destructive call of an MCP client until it is allowed, once, or denied', async () => {
    const client = new Client({ name: 'assistant', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL('mcp', product.url)))
    const { page, complaints, close } = await open('/calls')
    await page.getByText('Connected', { exact: true }).waitFor()
    const unlock = () =>
      client.callTool({
        name: 'control_lock',
        arguments: { deviceName: 'Back Door Lock', action: 'unlock' },
      })
    const notice = page.getByRole('region', { name: 'Waiting for approval' })
    const held = unlock()
    await notice.getByText('"Back Door Lock"').waitFor()
    await notice.getByText('the tool says that it is destructive').waitFor()
    expect(await stateOfLock()).toMatch(/ locked/)
    await notice.getByRole('button', { name: 'Allow once' }).click()
    expect(await held).toMatchObject({ content: [{ text: expect.stringMatching(/unlocked/) }] })
    const refused = unlock()
    await notice.getByRole('button', { name: 'Deny' }).click()
    expect(await refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/denied/) }],
    })
    const rows = page.getByRole('row', { name: /control_lock/ })
    await expect.poll(() => rows.locator('.badge').allTextContents()).toEqual(['denied', 'ok'])
    await rows.last().click()
    const detail = await page.getByRole('complementary').textContent()
    for (const part of ['Waited', 'rule 1: ask', 'approved by console']) expect(detail).toContain(part)
    expect(complaints).toEqual([])
    await Promise.all([close(), client.close()])
  })

  async function stateOfLock(): Promise<string> {
    const answer = await fetch(new URL('api/tools/get_device_sensor_data/call', product.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ deviceName: 'Back Door Lock' }),
    })
    return ((await answer.json()) as { text: string }).text
  }

  it('sees a server that is killed come back', async () => {
    const { page, close } = await open('/servers')
    const zwave = page.getByRole('article', { name: 'Server zwave' })
    await zwave.getByText('ready', { exact: true }).waitFor()
    const before = await pidOfZwave()
    process.kill(before, 'SIGKILL')
    let after = before
    const isAnother = async () => {
      after = await pidOfZwave()
      return after > 0 && after !== before
    }
    await expect.poll(isAnother, { timeout: 15_000 }).toBe(true)
    await zwave.getByText(String(after)).waitFor()
    await zwave.getByText('ready', { exact: true }).waitFor()
    await close()
  })

  /** The process of the Z-Wave server, once it is ready. */
  async function pidOfZwave(): Promise<number> {
    const { servers } = (await (await fetch(new URL('api/servers', product.url))).json()) as {
      servers: { name: string; state: string; pid: number }[]
    }
    const ready = servers.find(({ name, state }) => name === 'zwave' && state === 'ready')
    return ready?.pid ?? Number.NaN
  }
})
