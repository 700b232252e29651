import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from './browser.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** What a newcomer does first, on the product itself. */
describe.runIf(hasBrowser)('the views of the console on the product itself', { timeout: 60_000 }, () => {
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

  it('keeps a conversation over a reload, asks again, renames and deletes it', async () => {
    const { page, complaints, close } = await open('/chat')
    const ask = async (question: string) => {
      await page.getByLabel('Message', { exact: true }).fill(question)
      await page.keyboard.press('Enter')
    }
    await ask('what is 6 * 7')
    await page.getByText('The result is 42.').waitFor()
    await page.getByText(/Answered by offline\. .*s\./).waitFor()
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}$/)
    await page.reload()
    await page.getByText('The result is 42.').waitFor()
    await page.getByText('Math eval: 6 * 7').waitFor()
    await page.getByRole('button', { name: 'Edit question' }).click()
    await page.getByLabel('Edited question').fill('what is 6 * 8')
    await page.keyboard.press('Enter')
    await page.getByText('The result is 48.').waitFor()
    expect(await page.getByText('The result is 42.').count()).toBe(0)
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await list.getByRole('button', { name: /^Rename/ }).click()
    await list.getByLabel('Name of the conversation').fill('Sums')
    await page.keyboard.press('Enter')
    await list.getByRole('link', { name: /Sums/ }).waitFor()
    await list.getByRole('button', { name: 'Delete Sums' }).click()
    await list.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Ask for something' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('tries a server, says why one does not work, and adds one with resources and prompts to open', async () => {
    const { page, close } = await open('/servers?add')
    await page.getByLabel('Name', { exact: true }).fill('mine')
    await page.getByLabel('Command', { exact: true }).last().fill('no-such-program --token abc')
    await page.getByRole('button', { name: 'Try and add' }).click()
    await page
      .getByRole('alert')
      .getByText(/there is no such command/)
      .waitFor()
    await page.getByText('Pasted JSON').click()
    const pasted = { mcpServers: { mine: { command: process.execPath, args: [server, 'stdio'] } } }
    await page.getByLabel('JSON', { exact: true }).fill(JSON.stringify(pasted))
    await page.getByRole('button', { name: 'Try and add' }).click()
    await page
      .getByRole('status')
      .getByText(/Added, with \d+ tool/)
      .waitFor()
    const card = page.getByRole('article', { name: 'Server mine' })
    await card.getByText('ready', { exact: true }).waitFor()
    await page.getByRole('article', { name: 'Server zwave' }).getByText('ready', { exact: true }).waitFor()
    await card.getByText('Resources and prompts').click()
    await card
      .getByRole('button', { name: /^Open / })
      .first()
      .click()
    await card.getByRole('button', { name: 'Stop mine' }).click()
    await card.getByText('stopped', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Start mine' }).click()
    await card.getByText('ready', { exact: true }).waitFor()
    await close()
  })

  it('finds an old call again by a word, shows its stages, and cancels one that runs', async () => {
    const { page, complaints, close } = await open('/tools/math_eval')
    await page.getByLabel('expression').fill('123456 + 1')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('123457').first().waitFor()
    await page.goto(`${product.url}#/calls`)
    await page.getByLabel('Search', { exact: true }).fill('123457')
    const found = page.getByRole('row', { name: /123456 \+ 1.*console/ }).first()
    await found.waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const csv = await readFile(await (await saved).path(), 'utf8')
    const [, ...rows] = csv.trim().split('\n')
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(row => !row.includes('123456 + 1'))).toEqual([])
    await found.click()
    const detail = page.getByRole('complementary')
    for (const stage of ['Found', 'Fitted', 'Invoked'])
      await detail.getByText(stage, { exact: true }).waitFor()
    const endless = { expression: 'f(n) = n < 2 ? n : f(n-1) + f(n-2); f(60)' }
    const answer = fetch(new URL('api/tools/math_eval/call', product.url), {
      method: 'POST',
      headers: { 'x-timeout-ms': '60000' },
      body: JSON.stringify(endless),
    })
    await page.goto(`${product.url}#/calls?outcome=running`)
    await page.getByRole('row', { name: /math_eval.*http.*running/ }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await (await answer).json()).toMatchObject({ code: 'cancelled' })
    expect(complaints).toEqual([])
    await close()
  })
})
