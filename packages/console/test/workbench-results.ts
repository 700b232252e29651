import { expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import type { Workbench } from './workbench.ts'

/** What tools answer, in the viewer. */
export function showsResults(bench: Workbench): void {
  it('renders Markdown as elements of its own: no HTML, no picture from elsewhere, no script', async () => {
    const { page } = bench
    await bench.runTool('report')
    await page.locator('.tool-description strong', { hasText: 'report' }).waitFor()
    await bench.result.locator('strong', { hasText: 'bold' }).waitFor()
    await bench.result.getByText('<img src=x').waitFor()
    expect(await bench.result.locator('img').count()).toBe(0)
    const link = bench.result.getByRole('link', { name: 'a link' })
    expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual([
      'noopener noreferrer',
      '_blank',
    ])
    expect(await bench.result.getByRole('link', { name: 'Not a link' }).count()).toBe(0)
    expect(await bench.result.getByRole('cell', { name: '300000' }).count()).toBe(1)
    await bench.result.getByText('Text', { exact: true }).click()
    await bench.result.getByText('# Report').waitFor()
    await bench.result.getByRole('button', { name: 'Wrap lines' }).click()
    await bench.result.locator('.text-unwrapped').waitFor()
    await bench.button('Raw').click()
    await bench.result.getByText('"execution_time_ms"').waitFor()
    const download = page.waitForEvent('download')
    await bench.button('Raw').click()
    await bench.button('Download').click()
    expect((await download).suggestedFilename()).toBe('result.md')
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.title()).toBe('report · Toolpost')
    expect(bench.complaints).toEqual([])
  })

  it('shows alike objects as a table that sorts, with the text beside them', async () => {
    const { page } = bench
    await bench.runTool('people')
    await bench.result.getByText('Three people.').waitFor()
    const table = page.getByRole('region', { name: 'Structured content' })
    await table.getByRole('columnheader', { name: 'born' }).getByRole('button').click()
    const first = () => table.getByRole('row').nth(1).textContent()
    expect(await first()).toContain('Ada')
    await table.getByRole('button', { name: 'born' }).click()
    expect(await first()).toContain('Edsger')
    const form = await page.getByRole('region', { name: 'Call this tool' }).boundingBox()
    const shown = await bench.result.boundingBox()
    expect((shown?.x ?? 0) >= (form?.x ?? 0) + (form?.width ?? 0)).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
  })

  it('shows pictures, plays sound, and follows links', async () => {
    const { page } = bench
    await bench.runTool('media')
    const image = bench.result.getByRole('img')
    await expect.poll(() => image.evaluate(one => (one as HTMLImageElement).naturalWidth)).toBe(8)
    const audio = bench.result.locator('audio')
    await expect.poll(() => audio.evaluate(one => (one as HTMLAudioElement).readyState)).toBeGreaterThan(0)
    expect(await bench.result.getByRole('link', { name: 'The manual' }).getAttribute('href')).toBe(
      'https://example.org/manual',
    )
    expect(await seriousFindings(page)).toEqual([])
    expect(bench.complaints).toEqual([])
  })

  it('shows a picture and plays a sound that the gateway keeps for a model, when it is asked to', async () => {
    const { page } = bench
    for (const name of ['scan', 'recording']) {
      expect(await bench.call(name)).toMatchObject({ handle: expect.stringMatching(/^result:/) })
      await page.goto(`${bench.url}#/calls?tool=${name}`)
      await page.getByRole('link', { name, exact: true }).last().click()
      await page.getByRole('button', { name: 'Show full result' }).click()
      const kept = page.locator('.kept')
      if (name === 'scan')
        await expect
          .poll(() => kept.getByRole('img').evaluate(one => (one as HTMLImageElement).naturalWidth))
          .toBe(8)
      else
        await expect
          .poll(() => kept.locator('audio').evaluate(one => (one as HTMLAudioElement).readyState))
          .toBeGreaterThan(0)
    }
    expect(bench.complaints).toEqual([])
  })

  it('searches ten megabytes of JSON, and copies the path of what it found', async () => {
    const { page } = bench
    await bench.runTool('long_data')
    await bench.result.getByText('JSON', { exact: true }).click()
    const tree = bench.result.getByRole('tree')
    await tree.getByText('rows').waitFor()
    await page.getByLabel('Search the JSON').fill('number 54321')
    await bench.result.getByText('1 found').waitFor()
    await page.keyboard.press('Enter')
    await tree.locator('mark', { hasText: 'number 54321' }).waitFor()
    await bench.button('Copy path').click()
    await expect.poll(() => bench.clipboard()).toBe('$.rows[54321].name')
    expect(await page.locator('.tree-row').count()).toBeLessThan(200)
    await tree.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('.tree-row').count()).toBe(1)
    expect(await seriousFindings(page)).toEqual([])
  })

  it('shows ten megabytes of text a piece at a time', async () => {
    await bench.runTool('long_text')
    await bench.result.getByText('line 99 ').waitFor()
    for (let time = 0; time < 4; time += 1) await bench.button('Show more').click()
    await expect.poll(() => bench.result.locator('pre').last().textContent()).toContain('line 119999')
    const startedAt = Date.now()
    await bench.result.getByRole('button', { name: 'Wrap lines' }).click()
    await bench.result.locator('.text-unwrapped').waitFor()
    expect(Date.now() - startedAt).toBeLessThan(5_000)
    await bench.button('Clear').click()
  })
}
