import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { axeFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { callsIn, productUnderTest, resultIn, run } from './product.ts'

const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)

/** Everything is real: the built page in Chromium, `toolpost up`, the Z-Wave server and its virtual home. */
describe.runIf(hasBrowser)('the console', { timeout: 60_000 }, () => {
  const { product, open } = productUnderTest()

  it('shows a first visit three things to try, and asks for the light of the README', async () => {
    const { page, complaints, close } = await open('/')
    await page.getByRole('heading', { name: 'Everything is working' }).waitFor()
    const first = page.getByRole('region', { name: 'Three things to try' })
    await first.getByRole('button', { name: 'Ask' }).waitFor()
    expect(await first.getByRole('listitem').count()).toBe(3)
    await first.getByRole('button', { name: 'Ask' }).click()
    await page
      .getByText(/living room light is at 30/i)
      .first()
      .waitFor()
    await page.goto(`${product.url}#/chat`)
    await page.getByRole('link', { name: 'New' }).click()
    const offered = page.getByRole('region', { name: 'Conversation' }).getByRole('button')
    await offered.first().waitFor()
    expect((await offered.allTextContents()).join()).not.toMatch(/volume|search|‹|\{/i)
    expect(complaints).toEqual([])
    await close()
  })

  it('runs a tool from its form, shows what went wrong, and cancels a call', async () => {
    const { page, complaints, close } = await open('/tools/math_eval')
    await page.getByLabel('expression').fill('12 % of 85')
    await run(page)
    await resultIn(page).getByText('10.2').first().waitFor()
    await page.getByRole('tab', { name: 'curl' }).click()
    await page.getByText(/api\/tools\/math_eval\/call/).waitFor()
    await page.getByLabel('expression').fill('')
    await run(page)
    await resultIn(page).getByText("Invalid parameters: missing 'expression'", { exact: true }).waitFor()
    await page.getByLabel('expression').fill('f(n) = n < 2 ? n : f(n-1) + f(n-2); f(60)')
    await run(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await resultIn(page).getByText('cancelled').waitFor()
    // The gateway's refusal of arguments is a 4xx, which the browser logs.
    expect(complaints.filter(text => !/status of 4\d\d/.test(text))).toEqual([])
    await close()
  })

  it('keeps a conversation, asks again, renames and deletes it, and shows its trace', async () => {
    const { page, complaints, close } = await open('/chat')
    await page.getByLabel('Message').fill('what is 6 * 7')
    await page.keyboard.press('Enter')
    await page.getByText('The result is 42.').waitFor()
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}$/)
    await page.reload()
    await page.getByText('The result is 42.').waitFor()
    await page.getByText('Trace', { exact: true }).click()
    const trace = page.getByRole('list', { name: 'Trace of the turn' })
    expect(await trace.textContent()).toMatch(
      /Model call 1.*1 tool call.*math_eval.*ok.*Model call 2.*answer/,
    )
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as a case for toolpost eval' }).click()
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain(
      'ask: "what is 6 * 7"\n    expect: [{"tool":"math_eval"',
    )
    await page.getByRole('article', { name: 'Question 1' }).getByText('what is 6 * 7').hover()
    await page.getByRole('button', { name: 'Edit question' }).click()
    await page.getByLabel('Edited question').fill('what is 6 * 8')
    await page.keyboard.press('Enter')
    await page.getByText('The result is 48.').waitFor()
    expect(await page.getByText('The result is 42.').count()).toBe(0)
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await list.getByRole('link', { name: /what is 6/ }).hover()
    await list.getByRole('button', { name: /^Rename what is 6/ }).click()
    await list.getByLabel('Conversation name').fill('Sums')
    await page.keyboard.press('Enter')
    await list.getByRole('link', { name: 'Sums' }).hover()
    await list.getByRole('button', { name: 'Delete Sums' }).click()
    await list.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Ask for something' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('holds a destructive call until it is allowed, once, or denied, in words and exactly', async () => {
    const client = new Client({ name: 'assistant', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL('mcp', product.url), {
      requestInit: { headers: product.headers },
    })
    await client.connect(transport)
    const { page, complaints, close } = await open('/tools', { viewport: { width: 390, height: 844 } })
    // An answer from before the call must not hide what an event has said since.
    let release = () => {}
    const released = new Promise<void>(resolve => (release = resolve))
    await page.route('**/api/approvals', async route => {
      const response = await route.fetch()
      await released
      await route.fulfill({ response })
    })
    await page.reload()
    await product.call('control_lock', { deviceName: 'Back Door Lock', action: 'lock' })
    const unlock = () =>
      client.callTool({ name: 'control_lock', arguments: { deviceName: 'Back Door Lock', action: 'unlock' } })
    const bar = page.getByRole('region', { name: 'Waiting for approval' })
    const allowed = unlock()
    await bar.getByText('Unlock Back Door Lock').waitFor()
    release()
    await page.unrouteAll({ behavior: 'wait' })
    expect((await bar.boundingBox())?.height).toBeLessThan(844 / 5)
    const lock = await product.call('get_device_sensor_data', { deviceName: 'Back Door Lock' })
    expect(JSON.stringify(lock)).toMatch(/[^n]locked/)
    await bar.getByRole('button', { name: 'Allow once' }).click()
    expect(await allowed).toMatchObject({ content: [{ text: expect.stringMatching(/unlocked/) }] })
    const denied = unlock()
    await page.goto(`${product.url}#/approvals`)
    const card = page.getByRole('article', { name: 'Approval of control_lock' })
    await card.getByRole('heading', { name: 'Unlock Back Door Lock' }).waitFor()
    await card.getByText('the tool is marked as destructive').waitFor()
    await card.getByRole('row', { name: /deviceName.*Back Door Lock.*same/ }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await card.getByRole('button', { name: 'Deny' }).click()
    expect(await denied).toMatchObject({ isError: true })
    // Whatever is asked about is shown as text.
    const args = { deviceName: '<b id="owned">a\u202e</b>', action: 'unlock' }
    const odd = client.callTool({ name: 'control_lock', arguments: args })
    await card.getByRole('cell', { name: '<b id="owned">a\\u202e</b>' }).waitFor()
    expect(await page.locator('#owned').count()).toBe(0)
    await card.getByRole('button', { name: 'Deny' }).click()
    expect(await odd).toMatchObject({ isError: true })
    const decided = page.getByRole('region', { name: 'Recently decided' }).getByRole('link')
    await decided.nth(2).waitFor()
    expect(await decided.allInnerTexts()).toEqual([
      expect.stringMatching(/Unlock <b[\s\S]*denied/),
      expect.stringMatching(/Unlock Back Door Lock[\s\S]*denied/),
      expect.stringMatching(/Unlock Back Door Lock[\s\S]*allowed/),
    ])
    // Waiting for a person is not the tool's time.
    await decided.nth(2).click()
    await page.getByText('Waited', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Trace' }).click()
    expect(await page.getByRole('list', { name: 'Stages' }).textContent()).toMatch(/wait.*invoke.*Total/)
    expect(complaints).toEqual([])
    await Promise.all([close(), client.close()])
  })

  it('finds old calls after a restart, compares two, and runs one again', async () => {
    await product.call('math_eval', { expression: '1 + 111' })
    await product.call('math_eval', { expression: '1 + 222' })
    const port = new URL(product.url).port
    await product.stop()
    await product.start(port)
    const { page, close } = await open('/calls')
    await callsIn(page).nth(3).waitFor()
    await page.getByLabel('Search calls').fill('222')
    await expect.poll(() => callsIn(page).count()).toBe(1)
    await callsIn(page).click()
    const detail = page.getByRole('complementary', { name: 'Call' })
    await detail.getByText('1 + 222').first().waitFor()
    await page.getByRole('tab', { name: 'Compare' }).click()
    await page.getByRole('row', { name: /expression.*1 \+ 111.*1 \+ 222/ }).waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await resultIn(page).getByText('223').first().waitFor()
    await page.goto(`${product.url}#/calls`)
    await page.getByLabel('Search calls').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.getByRole('complementary', { name: 'Call' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/#\/calls$/)
    await close()
  })

  it('tries a server, says why one does not work, and adds, stops and starts one', async () => {
    const { page, close } = await open('/servers?add=1')
    await page.getByLabel('Name').fill('mine')
    await page.getByRole('textbox', { name: 'Command' }).fill('no-such-program --token abc')
    await page.getByRole('button', { name: 'Test and add' }).click()
    await page
      .getByRole('alert')
      .getByText(/command not found/)
      .waitFor()
    const pasted = { mcpServers: { mine: { command: process.execPath, args: [everything, 'stdio'] } } }
    await page.getByRole('textbox', { name: 'JSON' }).fill(JSON.stringify(pasted))
    await page.getByRole('button', { name: 'Test and add' }).click()
    await page.getByText(/Added, with \d+ tool/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: /mine/ }).click()
    const server = page.getByRole('article', { name: 'Server mine' })
    await server.getByText('ready', { exact: true }).waitFor()
    await server.getByRole('tab', { name: 'Resources and prompts' }).click()
    await server
      .getByRole('button', { name: /^Open / })
      .first()
      .click()
    await server.getByRole('tab', { name: 'Messages' }).click()
    await server.getByText('tools/list').first().waitFor()
    await server.getByRole('button', { name: 'Stop' }).click()
    await server.getByText('stopped', { exact: true }).waitFor()
    await server.getByRole('button', { name: 'Start' }).click()
    await server.getByText('ready', { exact: true }).waitFor()
    await close()
  })

  it('asks for the token in words, and takes the right one', async () => {
    const { page, close } = await open('/tools')
    await page.getByRole('link', { name: /math_eval/ }).waitFor()
    await page.evaluate(() => localStorage.setItem('toolpost.token', 'outdated'))
    await page.reload()
    await page.getByText('The gateway refused this token').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.getByLabel('Token').fill(decodeURIComponent(product.console.split('#token=')[1] ?? ''))
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('link', { name: /math_eval/ }).waitFor()
    // A link can come from anybody: its token does not replace one that works.
    await page.goto(`${product.url}#token=stolen`)
    await page.reload()
    await page.getByText('Connected').waitFor()
    expect(page.url()).not.toContain('stolen')
    await close()
  })

  it('is usable by everybody: axe finds nothing, light and dark, on a phone and a desktop', async () => {
    for (const [width, colorScheme] of [
      [390, 'dark'],
      [1440, 'light'],
      [1440, 'dark'],
      [390, 'light'],
    ] as const) {
      const { page, close } = await open('/', { viewport: { width, height: 900 }, colorScheme })
      const views = [
        '/',
        '/tools/control_zwave_device',
        '/calls',
        '/approvals',
        '/servers/zwave',
        '/servers?add=1',
        '/chat',
      ]
      for (const view of views) {
        await page.goto(`${product.url}#${view}`)
        await page.locator('h1:visible').first().waitFor()
        await page.getByText(/^Loading/).waitFor({ state: 'detached' })
        expect(await axeFindings(page), `${view} ${width} ${colorScheme}`).toEqual([])
        const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
        expect(isWide, `${view} at ${width} scrolls sideways`).toBe(false)
      }
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
      expect(await axeFindings(page)).toEqual([])
      await close()
    }
  })

  it('is less than 300 kB, compressed, with everything', () => {
    const dist = fileURLToPath(new URL('../dist', import.meta.url))
    const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
    const sizes = files.map(({ parentPath, name }) => {
      const content = readFileSync(join(parentPath, name))
      return name.endsWith('.woff2') ? content.length : gzipSync(content).length
    })
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000)
  })
})
