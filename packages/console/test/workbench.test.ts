import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser, openBrowser, openPage, type WatchedPage } from './browser.ts'
import { type RealGateway, startProduct } from './real-gateway.ts'

const server = fileURLToPath(new URL('./workbench-server.mjs', import.meta.url))
const config = {
  mcpServers: {
    workbench: { command: process.execPath, args: [server] },
    broken: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
  },
  mcp: { retry: { attempts: 1 } },
}

/** Tools, forms and results on the product itself, with a server that has one of every kind. */
describe.runIf(hasBrowser)('the workbench of the console', () => {
  let product: RealGateway
  let browser: Browser
  let tab: WatchedPage
  let page: Page
  beforeAll(async () => {
    product = await startProduct([], config)
    browser = await openBrowser()
    tab = await openPage(browser, { viewport: { width: 1440, height: 900 } })
    page = tab.page
    page.setDefaultTimeout(15_000)
    await page.goto(product.url)
    await page.getByText('1 of 2 servers ready').waitFor()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await product?.stop()
  })
  beforeEach(() => {
    tab.complaints.length = 0
  })

  const result = () => page.getByRole('region', { name: 'Result', exact: true }).first()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const show = (kind: string) => result().getByText(kind, { exact: true }).click()
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())

  async function openTool(name: string): Promise<void> {
    await page.goto(`${product.url}#/tools/${name}`)
    await page.getByRole('heading', { name, exact: true }).waitFor()
  }

  async function runTool(name: string): Promise<void> {
    await openTool(name)
    await button('Run').click()
    await result().getByText('Succeeded').waitFor()
  }

  it('begins with how everything is, and three things to try', async () => {
    await page.goto(`${product.url}#/`)
    const servers = page.getByRole('region', { name: 'Servers' })
    await servers.getByText('broken').waitFor()
    await servers.getByText('failed').waitFor()
    await page.getByRole('region', { name: 'Calls a minute' }).getByText('in 45 minutes').waitFor()
    for (const title of ['Run a tool', 'Ask for something', 'Connect an assistant'])
      await page.getByRole('heading', { name: title }).waitFor()
    await expect.poll(() => page.locator('link[rel=icon]').getAttribute('href')).toContain('d6362c')
    await page.getByRole('button', { name: 'Copy the MCP address' }).click()
    await expect.poll(clipboard).toBe(new URL('mcp', product.url).href)
    expect(await seriousFindings(page)).toEqual([])
    expect(tab.complaints).toEqual([])
  })

  it('finds anything with Ctrl-K, by the keyboard alone', async () => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('long_data')
    await page.getByRole('option', { name: /^long_data/ }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'long_data' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('home')
    await page.keyboard.press('Enter')
    await page.getByText('Three things to try').waitFor()
  })

  it('lists tools by server and name, with marks, folded as they were left, the open one in sight', async () => {
    await openTool('steps')
    const names = () =>
      page.getByRole('list', { name: 'Tools of workbench' }).locator('.list-item-name').allTextContents()
    expect(await names()).toEqual([
      'form',
      'long_data',
      'long_text',
      'media',
      'nothing',
      'people',
      'report',
      'scan',
      'steps',
    ])
    expect(await page.getByRole('link', { name: /^form.*destructive/ }).count()).toBe(1)
    expect(await page.getByRole('link', { name: /^report.*read-only/ }).count()).toBe(1)
    const inSight = () =>
      page.locator('.list-item[aria-current]').evaluate(item => {
        const { top, bottom } = item.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    expect(await inSight()).toBe(true)
    await page.locator('summary', { hasText: 'broken' }).getByText('failed').waitFor()
    await page.locator('summary', { hasText: 'Local' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'steps' }).waitFor()
    expect(await page.getByRole('list', { name: 'Tools of local' }).isVisible()).toBe(false)
    await page.getByLabel('Search tools').fill('write a report for me')
    await expect.poll(() => page.locator('.list-item-name').first().textContent()).toBe('report')
    await page.getByLabel('Search tools').fill('')
  })

  it('keeps favourites, which are at hand at home', async () => {
    await openTool('report')
    await page.getByRole('button', { name: 'Favourite' }).click()
    await page.goto(`${product.url}#/`)
    await page
      .getByRole('region', { name: 'Favourites' })
      .getByRole('link', { name: /^report/ })
      .click()
    expect(await page.getByRole('button', { name: 'Favourite' }).getAttribute('aria-pressed')).toBe('true')
  })

  it('renders Markdown as elements of its own: no HTML, no picture from elsewhere, no script', async () => {
    await runTool('report')
    await page.locator('.tool-description strong', { hasText: 'report' }).waitFor()
    await result().locator('strong', { hasText: 'bold' }).waitFor()
    await result().getByText('<img src=x').waitFor()
    expect(await result().locator('img').count()).toBe(0)
    const link = result().getByRole('link', { name: 'a link' })
    expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual([
      'noopener noreferrer',
      '_blank',
    ])
    expect(await result().getByRole('link', { name: 'Not a link' }).count()).toBe(0)
    expect(await result().getByRole('cell', { name: '300000' }).count()).toBe(1)
    await show('Text')
    await result().getByText('# Report').waitFor()
    await result().getByRole('button', { name: 'Wrap lines' }).click()
    await result().locator('.text-unwrapped').waitFor()
    await button('Raw').click()
    await result().getByText('"execution_time_ms"').waitFor()
    const download = page.waitForEvent('download')
    await button('Raw').click()
    await button('Download').click()
    expect((await download).suggestedFilename()).toBe('result.md')
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.title()).toBe('report · Toolpost')
    expect(tab.complaints).toEqual([])
  })

  it('shows alike objects as a table that sorts, with the text beside them', async () => {
    await runTool('people')
    await result().getByText('Three people.').waitFor()
    const table = page.getByRole('region', { name: 'Structured content' })
    await table.getByRole('columnheader', { name: 'born' }).getByRole('button').click()
    const first = () => table.getByRole('row').nth(1).textContent()
    expect(await first()).toContain('Ada')
    await table.getByRole('button', { name: 'born' }).click()
    expect(await first()).toContain('Edsger')
    const form = await page.getByRole('region', { name: 'Call this tool' }).boundingBox()
    const shown = await result().boundingBox()
    expect((shown?.x ?? 0) >= (form?.x ?? 0) + (form?.width ?? 0)).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
  })

  it('shows pictures, plays sound, and follows links', async () => {
    await runTool('media')
    const image = result().getByRole('img')
    await expect.poll(() => image.evaluate(one => (one as HTMLImageElement).naturalWidth)).toBe(8)
    const audio = result().locator('audio')
    await expect.poll(() => audio.evaluate(one => (one as HTMLAudioElement).readyState)).toBeGreaterThan(0)
    expect(await result().getByRole('link', { name: 'The manual' }).getAttribute('href')).toBe(
      'https://example.org/manual',
    )
    expect(await seriousFindings(page)).toEqual([])
    expect(tab.complaints).toEqual([])
  })

  it('shows a picture that the gateway keeps for a model, when it is asked to', async () => {
    const called = await fetch(new URL('api/tools/scan/call', product.url), { method: 'POST' })
    expect(await called.json()).toMatchObject({ handle: expect.stringMatching(/^result:/) })
    await page.goto(`${product.url}#/calls?tool=scan`)
    await page.getByRole('link', { name: 'scan', exact: true }).last().click()
    await page.getByRole('button', { name: 'Show all of it' }).click()
    const image = page.locator('.kept').getByRole('img')
    await expect.poll(() => image.evaluate(one => (one as HTMLImageElement).naturalWidth)).toBe(8)
    expect(tab.complaints).toEqual([])
  })

  it('searches ten megabytes of JSON, and copies the path of what it found', async () => {
    await runTool('long_data')
    await show('JSON')
    const tree = result().getByRole('tree')
    await tree.getByText('rows').waitFor()
    await page.getByLabel('Search the JSON').fill('number 54321')
    await result().getByText('1 found').waitFor()
    await page.keyboard.press('Enter')
    await tree.locator('mark', { hasText: 'number 54321' }).waitFor()
    await button('Copy path').click()
    await expect.poll(clipboard).toBe('$.rows[54321].name')
    expect(await page.locator('.tree-row').count()).toBeLessThan(200)
    await tree.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('.tree-row').count()).toBe(1)
    expect(await seriousFindings(page)).toEqual([])
  })

  it('shows ten megabytes of text a piece at a time', async () => {
    await runTool('long_text')
    await result().getByText('line 99 ').waitFor()
    for (let time = 0; time < 4; time += 1) await button('Show more').click()
    await expect.poll(() => result().locator('pre').last().textContent()).toContain('line 119999')
    const startedAt = Date.now()
    await result().getByRole('button', { name: 'Wrap lines' }).click()
    await result().locator('.text-unwrapped').waitFor()
    expect(Date.now() - startedAt).toBeLessThan(5_000)
    await button('Clear').click()
  })

  it('says how far a call is, in the words of its server, and cancels it', async () => {
    await openTool('steps')
    await button('Run').click()
    await result().getByText('Counting sheep').waitFor()
    expect(await result().getByRole('progressbar').getAttribute('aria-valuenow')).toBe('75')
    await button('Cancel').click()
    await result().getByText('Cancelled', { exact: true }).waitFor()
    await button('Run').waitFor()
  })

  it('has nothing to fill in for a tool without parameters', async () => {
    await openTool('nothing')
    await page.getByText('This tool takes no arguments.').waitFor()
    expect(await page.getByRole('region', { name: 'Call this tool' }).getByRole('textbox').count()).toBe(1)
    await button('Run').click()
    await result().getByText('done').waitFor()
  })

  it('checks patterns in the page, and names, shows and focuses the first wrong field', async () => {
    await openTool('form')
    await page.getByLabel('code').fill('nonsense')
    await page.getByLabel('anything').fill('{not json')
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await button('Run').click()
    await page.getByRole('alert').getByText('code must match ^[A-Z]{2}-\\d{3}$').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('argument_code')
    await page.getByLabel('code').fill('AB-123')
    await page.getByRole('group', { name: 'owner object required' }).getByRole('textbox').fill('Ada')
    await button('Run').click()
    await page.getByRole('alert').getByText('anything is not JSON').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('argument_anything')
    expect(await seriousFindings(page)).toEqual([])
  })

  it('takes JSON for what has no type, says what each choice is, and adds entries without a name', async () => {
    await openTool('form')
    await page.getByLabel('anything').fill('[1, {"a": null}]')
    const kinds = page.getByLabel('Kind of place')
    expect(await kinds.locator('option').allTextContents()).toEqual(
      expect.arrayContaining(['Not given', 'Text', 'Object with lat', 'Null']),
    )
    const sent = async () => {
      await button('Run').click()
      await result().getByText('Succeeded').waitFor()
      await button('Raw').click()
      const raw = JSON.parse((await result().getByLabel('Raw result').textContent()) ?? '') as {
        text?: string
        result: unknown
      }
      await button('Clear').click()
      return JSON.parse(String(raw.text ?? raw.result)) as unknown
    }
    const base = { code: 'AB-123', anything: [1, { a: null }], owner: { name: 'Ada' } }
    expect(await sent()).toEqual(base)
    await kinds.selectOption('Null')
    expect(await sent()).toEqual({ ...base, place: null })
    await kinds.selectOption('Text')
    await page.locator('#argument_place').fill('Graz')
    await page.getByRole('button', { name: 'Add an entry' }).click()
    const key = page.getByLabel('Name', { exact: true })
    expect(await key.inputValue()).toBe('')
    await key.fill('colour')
    await key.blur()
    await page.locator('#argument_labels_colour').fill('red')
    expect(await sent()).toEqual({ ...base, place: 'Graz', labels: { colour: 'red' } })
    await kinds.selectOption('Not given')
    expect(await sent()).toEqual({ ...base, labels: { colour: 'red' } })
  })

  it('keeps values over a reload, fills in examples, and saves requests', async () => {
    await openTool('form')
    await page.getByLabel('code').fill('ZZ-999')
    await page.reload()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('ZZ-999')
    await page.getByRole('region', { name: 'Call this tool' }).getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Name of the saved request').fill('my own')
    await page.keyboard.press('Enter')
    await page.getByLabel('code').fill('')
    await page.getByRole('button', { name: 'my own', exact: true }).click()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('ZZ-999')
    await page.getByRole('button', { name: 'Example', exact: true }).click()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('AB-123')
    await expect.poll(() => page.locator('#argument_owner_name').inputValue()).toBe('Grace')
    await page.getByRole('button', { name: 'Forget my own' }).click()
    expect(await page.getByRole('button', { name: 'my own', exact: true }).count()).toBe(0)
  })
})
