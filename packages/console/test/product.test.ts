import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { productUnderTest } from './product-under-test.ts'

const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

/**
 * What a newcomer does first. Everything is real here: the built page in Chromium, `toolpost up`, the Z-Wave server and
 * its virtual home.
 */
describe.runIf(hasBrowser)('the console on the product itself', { timeout: 60_000 }, () => {
  const { address, owner, open, call } = productUnderTest()
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
    const answer = await call('get_device_sensor_data', { deviceName: 'Living Room Light' })
    expect(await answer.json()).toMatchObject({ success: true, text: expect.not.stringMatching(/is off/) })
    await page.goto(address('#/calls').href)
    await page
      .getByRole('row', { name: /control_zwave_device.*chat/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('holds a destructive call of an MCP client until it is allowed, once, or denied', async () => {
    const client = new Client({ name: 'assistant', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(address('mcp'), { requestInit: { headers: owner() } }),
    )
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
    await notice.getByText('the tool is marked as destructive').waitFor()
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
    for (const part of ['Waited', 'default rule: ask', 'approved by console']) expect(detail).toContain(part)
    await page.goto(address('#/approvals').href)
    const decided = page.getByRole('region', { name: 'Recently decided' }).getByRole('link')
    await decided.nth(1).waitFor()
    expect(await decided.allInnerTexts()).toEqual([
      expect.stringMatching(/control_lock.*console.*denied/s),
      expect.stringMatching(/control_lock.*console.*approved/s),
    ])
    expect(complaints).toEqual([])
    await Promise.all([close(), client.close()])
  })

  async function stateOfLock(): Promise<string> {
    const answer = await call('get_device_sensor_data', { deviceName: 'Back Door Lock' })
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
    const { servers } = (await (await fetch(address('api/servers'), { headers: owner() })).json()) as {
      servers: { name: string; state: string; pid: number }[]
    }
    const ready = servers.find(({ name, state }) => name === 'zwave' && state === 'ready')
    return ready?.pid ?? Number.NaN
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
    await list.getByRole('button', { name: /^Rename what is/ }).click()
    await list.getByLabel('Conversation name').fill('Sums')
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
    await page.getByRole('button', { name: 'Test and add' }).click()
    await page
      .getByRole('alert')
      .getByText(/command not found/)
      .waitFor()
    await page.getByText('Pasted JSON').click()
    const pasted = { mcpServers: { mine: { command: process.execPath, args: [server, 'stdio'] } } }
    await page.getByLabel('JSON', { exact: true }).fill(JSON.stringify(pasted))
    await page.getByRole('button', { name: 'Test and add' }).click()
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
    await page.goto(address('#/calls').href)
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
    const answer = call('math_eval', endless, { 'x-timeout-ms': '60000' })
    await page.goto(address('#/calls?outcome=running').href)
    await page.getByRole('row', { name: /math_eval.*http.*running/ }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await (await answer).json()).toMatchObject({ code: 'cancelled' })
    expect(complaints).toEqual([])
    await close()
  })
})
