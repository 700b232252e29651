import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

function run(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Run', exact: true }).click()
}

function clipboard(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText())
}

describe.runIf(hasBrowser)('the tools of the console', () => {
  it('are searched, and walked with the keyboard alone', async () => {
    const { page, complaints } = await open()
    await page.getByText('10 tools').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('zwave sensor')
    await page.getByText('1 of 10 tools').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'get_device_sensor_data' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('run from a form with its defaults, and show result and duration', async () => {
    const { page, gateway, complaints } = await open({ at: '/tools/control_zwave_device' })
    await page.getByLabel('deviceName').fill('Kitchen light')
    expect(await page.getByLabel('action').inputValue()).not.toBe('')
    await page.keyboard.press('Enter')
    await page.getByText('Kitchen light is on.').waitFor()
    await page.getByText('86 ms').waitFor()
    expect(gateway.calls.at(-1)?.args).toEqual({ deviceName: 'Kitchen light', action: 'on' })
    expect(complaints).toEqual([])
  })

  it('say at the field what does not match, and run anyway on request', async () => {
    const { page, gateway } = await open({ at: '/tools/math_eval' })
    await page.getByLabel('expression').waitFor()
    await run(page)
    await page.getByText('is required', { exact: true }).waitFor()
    await page.getByRole('alert').getByText('expression is required.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('argument_expression')
    await page.getByRole('button', { name: 'Run anyway' }).click()
    await page.getByText("Invalid parameters: missing 'expression'").waitFor()
    await page.getByText('expression (string)').waitFor()
    expect(gateway.calls.at(-1)?.args).toEqual({})
  })

  it('take lists, inner objects and choices, and show what was repaired', async () => {
    const { page, gateway } = await open({ at: '/tools/send_note' })
    await page.getByRole('textbox', { name: /^text/ }).fill('Milk')
    await page.getByRole('button', { name: 'Add an item' }).click()
    await page.getByRole('textbox', { name: 'Item 1' }).fill('shopping')
    await page.getByRole('textbox', { name: /^name/ }).fill('Ada')
    await page.getByLabel('copy').selectOption('No')
    await page.getByLabel('urgent').check()
    await run(page)
    await page.getByText('The arguments were repaired').waitFor()
    expect(gateway.calls.at(-1)?.args).toEqual({
      text: 'Milk',
      tags: ['shopping'],
      urgent: true,
      to: { name: 'Ada', copy: false },
    })
  })

  it('take JSON as well, and say what is wrong with it', async () => {
    const { page, gateway } = await open({ at: '/tools/math_eval' })
    await page.getByLabel('expression').fill('1 + 1')
    await page.getByText('JSON', { exact: true }).click()
    const editor = page.getByLabel('Arguments as JSON')
    expect(JSON.parse(await editor.inputValue())).toEqual({ expression: '1 + 1' })
    await editor.fill('{"expression": }')
    await run(page)
    await page
      .getByRole('alert')
      .filter({ hasText: /JSON|token/i })
      .waitFor()
    await editor.fill('{"expression": "2 + 2"}')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Succeeded').waitFor()
    expect(gateway.calls.at(-1)?.args).toEqual({ expression: '2 + 2' })
  })

  it('are cancelled, and the gateway is told', async () => {
    const { page, gateway } = await open({ at: '/tools/slow_report' })
    await run(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The gateway was asked to cancel it').waitFor()
    await expect.poll(() => gateway.aborted).toEqual(['/api/tools/slow_report/call'])
    await expect.poll(() => gateway.calls.at(-1)?.result).toMatchObject({ code: 'cancelled' })
  })

  it('go on running while another view is open', async () => {
    const { page } = await open({ at: '/tools/slow_report' })
    await run(page)
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await page.getByRole('link', { name: /Calls.*1 running/ }).click()
    await page.getByRole('row', { name: /slow_report.*running/ }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Cancelled', { exact: true }).waitFor()
  })

  it('that fail show their diagnosis', async () => {
    const { page } = await open({ at: '/tools/get_device_sensor_data' })
    await page.getByLabel('deviceName').fill('Hall sensor')
    await run(page)
    await page.getByText('The zwave service is unavailable: the server exited with code 1').waitFor()
    await page.getByText('fetch failed').waitFor()
    await page.getByLabel('stderr of the server').getByText('ECONNREFUSED').waitFor()
  })

  it('answer with images that are shown', async () => {
    const { page, complaints } = await open({ at: '/tools/take_snapshot' })
    await run(page)
    const image = page.getByRole('img', { name: /Tool result/ })
    await image.waitFor()
    await expect
      .poll(() => image.evaluate(element => (element as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(0)
    expect(complaints).toEqual([])
  })

  it('that answer with more than a model can read have the whole of it shown and saved while it is kept', async () => {
    const { page, gateway } = await open({ at: '/tools/echo' })
    const result = { success: true, tool_name: 'echo', execution_time_ms: 1, result: 'The beginning …' }
    gateway.answers.set('/api/tools/echo/call', {
      text: JSON.stringify({ ...result, handle: 'result://one' }),
    })
    gateway.answers.set('/api/results/one', { text: '{"all": "of it"}' })
    await run(page)
    await page.getByRole('button', { name: 'Show full result' }).click()
    await page.getByRole('tree', { name: 'Full result' }).getByText('of it').waitFor()
    const download = page.waitForEvent('download')
    await page.locator('.kept > .toolbar').getByRole('button', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toBe('result-one.json')
    gateway.answers.set('/api/results/one', { status: 404, text: '{"error":"gone"}' })
    await page.getByRole('button', { name: 'Show full result' }).click()
    await page.getByRole('alert').getByText('This result has expired').waitFor()
  })

  it('[F33] never put HTML into the page, and show escapes instead of obeying them', async () => {
    const { page, complaints } = await open({ at: '/tools/hostile' })
    await run(page)
    const result = page.getByLabel('Result', { exact: true }).last()
    await result.getByText('<script>alert(1)</script>').waitFor()
    expect(await result.textContent()).toContain('\\x1b[31mred')
    expect(await page.locator('img, main script').count()).toBe(0)
    expect(await page.title()).toBe('hostile · Toolpost')
    expect(complaints).toEqual([])
  })

  it('are copied as a command, as curl and as a test that runs', async () => {
    const { page, gateway } = await open({ at: '/tools/math_eval' })
    await page.getByLabel('expression').fill("it's 1")
    await run(page)
    await page.getByText('Succeeded').waitFor()
    await page.getByRole('button', { name: 'toolpost call' }).click()
    await page.getByText('Copied').waitFor()
    expect(await clipboard(page)).toBe(`toolpost call math_eval '{"expression":"it'\\''s 1"}'`)
    await page.getByRole('button', { name: 'curl' }).click()
    await expect.poll(() => clipboard(page)).toContain(`${gateway.url}/api/tools/math_eval/call`)
    await page.getByRole('button', { name: 'test', exact: true }).click()
    await expect.poll(() => clipboard(page)).toContain('node:test')
    expect(await outcomeOfTest(await clipboard(page))).toContain('# pass 1')
  })
})

/** Runs a copied test in a process of its own, while the gateway answers in this one. */
async function outcomeOfTest(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-copied-'))
  try {
    const file = join(folder, 'copied.test.mjs')
    writeFileSync(file, text)
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file])
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
