import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { Workbench } from './workbench.ts'
import { showsResults } from './workbench-results.ts'

/** Tools, forms and results on the product itself, with a server that has one of every kind. */
describe.runIf(hasBrowser)('the workbench of the console', () => {
  const bench = new Workbench()

  it('begins with how everything is, and three things to try', async () => {
    const { page } = bench
    await page.goto(`${bench.url}#/`)
    const servers = page.getByRole('region', { name: 'Servers' })
    await servers.getByText('broken').waitFor()
    await servers.getByText('failed').waitFor()
    await page.getByRole('region', { name: 'Calls per minute' }).getByText('in the last 45 minutes').waitFor()
    for (const title of ['Run a tool', 'Ask for something', 'Connect an assistant'])
      await page.getByRole('heading', { name: title }).waitFor()
    await expect.poll(() => page.locator('link[rel=icon]').getAttribute('href')).toContain('d6362c')
    await page.getByRole('button', { name: 'Copy the MCP address' }).click()
    await expect.poll(() => bench.clipboard()).toBe(new URL('mcp', bench.url).href)
    expect(await seriousFindings(page)).toEqual([])
    expect(bench.complaints).toEqual([])
  })

  it('finds anything with Ctrl-K, by the keyboard alone', async () => {
    const { page } = bench
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
    const { page } = bench
    await bench.openTool('steps')
    const names = () =>
      page.getByRole('list', { name: 'Tools of workbench' }).locator('.list-item-name').allTextContents()
    expect(await names()).toEqual([
      'form',
      'long_data',
      'long_text',
      'media',
      'nothing',
      'people',
      'recording',
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
    const { page } = bench
    await bench.openTool('report')
    await page.getByRole('button', { name: 'Favourite' }).click()
    await page.goto(`${bench.url}#/`)
    await page
      .getByRole('region', { name: 'Favourites' })
      .getByRole('link', { name: /^report/ })
      .click()
    await page.reload()
    await page.getByRole('button', { name: 'Favourite', pressed: true }).waitFor()
  })

  it('says how far a call is, in the words of its server, and cancels it', async () => {
    await bench.openTool('steps')
    await bench.button('Run').click()
    await bench.result.getByText('Counting sheep').waitFor()
    expect(await bench.result.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('75')
    await bench.button('Cancel').click()
    await bench.result.getByText('Cancelled', { exact: true }).waitFor()
    await bench.button('Run').waitFor()
  })

  it('says so in the chat too, and cancels the call there', async () => {
    const { page } = bench
    await page.goto(`${bench.url}#/chat`)
    await page.getByLabel('Message', { exact: true }).fill('count the sheep')
    await page.keyboard.press('Enter')
    const talk = page.getByRole('log', { name: 'Conversation' })
    await talk.getByText('Counting sheep').waitFor()
    expect(await talk.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('75')
    await bench.button('Cancel call').click()
    await talk.getByText('cancelled', { exact: true }).waitFor()
    await talk.getByText('Answered by offline.').waitFor()
    expect(bench.complaints).toEqual([])
  })

  it('shows the calls of a time, from the history too', async () => {
    const { page } = bench
    await page.goto(`${bench.url}#/calls`)
    const rows = page.getByRole('table', { name: 'Calls, newest first' }).locator('tbody tr')
    await rows.first().waitFor()
    const all = await rows.count()
    await page.getByRole('combobox', { name: 'Time' }).selectOption('last hour')
    await expect.poll(() => rows.count()).toBe(all)
    expect(page.url()).toContain('since=1h')
    await page.getByRole('combobox', { name: 'Time' }).selectOption('custom range')
    await page.getByLabel('Until').fill('2026-01-01T00:00')
    await page.getByText('No calls match the filters').waitFor()
    await page.getByLabel('Until').fill('2126-01-01T00:00')
    await expect.poll(() => rows.count()).toBe(all)
    await page.reload()
    await expect.poll(() => page.getByLabel('Until').inputValue()).toBe('2126-01-01T00:00')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    expect(bench.complaints).toEqual([])
  })

  it('opens a call at its top on a phone, and goes back to where the list was', async () => {
    const { page } = bench
    for (let time = 0; time < 12; time += 1) await bench.call('nothing')
    await page.setViewportSize({ width: 390, height: 600 })
    await page.goto(`${bench.url}#/calls`)
    await page.reload()
    const links = page.locator('.call-tool a')
    await expect.poll(() => links.count()).toBeGreaterThan(11)
    await links.last().scrollIntoViewIfNeeded()
    const before = await page.evaluate(() => scrollY)
    expect(before).toBeGreaterThan(100)
    await links.last().click()
    await page.getByRole('link', { name: 'Close' }).waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(before)
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByLabel('Outcome').selectOption('running')
    await page.getByText('No calls match the filters').waitFor()
    expect(await seriousFindings(page)).toEqual([])
  })

  it('has nothing to fill in for a tool without parameters', async () => {
    const { page } = bench
    await bench.openTool('nothing')
    await page.getByText('This tool takes no arguments.').waitFor()
    expect(await page.getByRole('region', { name: 'Call this tool' }).getByRole('textbox').count()).toBe(1)
    await bench.button('Run').click()
    await bench.result.getByText('done').waitFor()
  })

  it('checks patterns in the page, and names, shows and focuses the first wrong field', async () => {
    const { page } = bench
    await bench.openTool('form')
    await page.getByLabel('code').fill('nonsense')
    await page.getByLabel('anything').fill('{not json')
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await bench.button('Run').click()
    await page.getByRole('alert').getByText('code must match ^[A-Z]{2}-\\d{3}$').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('argument_code')
    await page.getByLabel('code').fill('AB-123')
    await page.getByRole('group', { name: 'owner object required' }).getByRole('textbox').fill('Ada')
    await bench.button('Run').click()
    await page.getByRole('alert').getByText('anything is not JSON').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('argument_anything')
    expect(await seriousFindings(page)).toEqual([])
  })

  it('takes JSON for what has no type, says what each choice is, and adds entries without a name', async () => {
    const { page } = bench
    await bench.openTool('form')
    await page.getByLabel('anything').fill('[1, {"a": null}]')
    const kinds = page.getByLabel('Type of place')
    expect(await kinds.locator('option').allTextContents()).toEqual(
      expect.arrayContaining(['Not set', 'Text', 'Object with lat', 'Null']),
    )
    const sent = async () => {
      await bench.button('Run').click()
      await bench.result.getByText('Succeeded').waitFor()
      await bench.button('Raw').click()
      const raw = JSON.parse((await bench.result.getByLabel('Raw result').textContent()) ?? '') as {
        text?: string
        result: unknown
      }
      await bench.button('Clear').click()
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
    await kinds.selectOption('Not set')
    expect(await sent()).toEqual({ ...base, labels: { colour: 'red' } })
  })

  it('keeps values over a reload, fills in examples, and saves requests', async () => {
    const { page } = bench
    await bench.openTool('form')
    await page.getByLabel('code').fill('ZZ-999')
    await page.reload()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('ZZ-999')
    await page.getByRole('region', { name: 'Call this tool' }).getByRole('button', { name: 'Save' }).click()
    await page.getByLabel('Name of the saved request').fill('my own')
    await page.keyboard.press('Enter')
    await page.getByLabel('code').fill('')
    await page.reload()
    await page.getByRole('button', { name: 'my own', exact: true }).click()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('ZZ-999')
    await page.getByRole('button', { name: 'Example', exact: true }).click()
    await expect.poll(() => page.getByLabel('code').inputValue()).toBe('AB-123')
    await expect.poll(() => page.locator('#argument_owner_name').inputValue()).toBe('Grace')
    await page.getByRole('button', { name: 'Delete my own' }).click()
    expect(await page.getByRole('button', { name: 'my own', exact: true }).count()).toBe(0)
  })

  showsResults(bench)
})
