import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { axeFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { callsIn, productUnderTest, resultIn, run } from './product.ts'

const server = fileURLToPath(new URL('workbench-server.mjs', import.meta.url))

/** `toolpost up` with a server that has a tool for every kind of form and result, and some hostile ones. */
describe.runIf(hasBrowser)('forms and results', { timeout: 60_000 }, () => {
  const { product, open } = productUnderTest({
    config: {
      mcpServers: { workbench: { command: process.execPath, args: [server] } },
      policy: [{ if: { destructive: true }, then: 'allow' }],
    },
  })
  const openTool = (page: Page, name: string) =>
    page.goto(`${product.url}#/tools/${encodeURIComponent(name)}`)

  it('makes a form of every kind of argument, and sends what was filled in', async () => {
    const { page, complaints, close } = await open('/tools/form')
    await page.getByLabel('code').fill('AB-123')
    await page.getByLabel('anything').fill('[1, {"a": null}]')
    await page.getByRole('combobox', { name: /place/ }).click()
    await page.getByRole('option', { name: 'object with lat' }).click()
    await page.getByLabel('lat').fill('47.1')
    await page.getByLabel('name').fill('Grace')
    await run(page)
    await resultIn(page).getByText('ok', { exact: true }).waitFor()
    await resultIn(page).getByRole('tab', { name: 'Text', exact: true }).click()
    const sent = JSON.parse((await resultIn(page).locator('pre').textContent()) ?? '')
    expect(sent).toEqual({
      code: 'AB-123',
      anything: [1, { a: null }],
      place: { lat: 47.1 },
      owner: { name: 'Grace' },
    })
    expect(await axeFindings(page)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('shows Markdown, tables, images and sound, with nothing in them alive', async () => {
    const { page, complaints, close } = await open('/tools/report')
    await run(page)
    await resultIn(page).getByRole('table').getByText('Graz').waitFor()
    await resultIn(page).getByText('<img src=x', { exact: false }).waitFor()
    expect(await resultIn(page).locator('img').count()).toBe(0)
    const links = await resultIn(page)
      .getByRole('link')
      .evaluateAll(all => all.map(link => link.getAttribute('href')))
    expect(links.filter(href => !href?.startsWith('#'))).toEqual([
      'https://example.org/x',
      'https://example.org/p.png',
    ])
    await openTool(page, 'people')
    await run(page)
    await resultIn(page).getByRole('cell', { name: 'Edsger' }).waitFor()
    await openTool(page, 'media')
    await run(page)
    const image = resultIn(page).getByRole('img')
    await image.waitFor()
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(8)
    expect(await resultIn(page).locator('audio').count()).toBe(1)
    expect(await page.title()).toBe('Toolpost')
    expect(complaints).toEqual([])
    await close()
  })

  it('shows progress, and cancels a call that somebody else made', async () => {
    const { page, close } = await open('/calls')
    const called = product.call('steps', {})
    await callsIn(page).filter({ hasText: 'running' }).click()
    await page.getByRole('progressbar').waitFor()
    await page.getByText('Counting sheep').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await called).toMatchObject({ success: false, code: 'cancelled' })
    await callsIn(page).filter({ hasText: 'cancelled' }).waitFor()
    await close()
  })

  it('passes on the question of a tool and its answer, and never has a field for a secret', async () => {
    const { page, close } = await open('/tools/ask')
    await run(page)
    const question = page.getByRole('dialog')
    await question.getByText('Which colour?').waitFor()
    await question.getByText(/asks for password, which looks like a secret/).waitFor()
    expect(await question.getByLabel('Password').count()).toBe(0)
    await question.getByRole('combobox', { name: 'Your colour' }).click()
    await page.getByRole('option', { name: 'blue' }).click()
    const send = question.getByRole('button', { name: 'Send' })
    await expect.poll(() => send.getAttribute('aria-disabled')).toBe('false')
    await send.click()
    await resultIn(page).getByText('It is blue.').first().waitFor()
    await close()
  })

  it('[F33] [F45] stays usable with hostile names, descriptions and schemas', async () => {
    const { page, complaints, close } = await open('/tools')
    await page.getByText('gnp.exe').first().click()
    await page.getByRole('heading', { name: 'gnp.exe' }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    for (const name of ['wide', 'endless']) {
      await openTool(page, name)
      await page.getByText('Enter the arguments as JSON').waitFor()
    }
    await page.getByLabel('Arguments as JSON').fill('{"p1":"x"}')
    await run(page)
    await resultIn(page).getByText('done').first().waitFor()
    expect(await page.title()).toBe('Toolpost')
    expect(complaints).toEqual([])
    await close()
  })
})
