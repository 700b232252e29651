import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()
const never = new AbortController().signal

describe.runIf(hasBrowser)('the calls of the console', () => {
  it('show up as they happen, whoever makes them', async () => {
    const { page, gateway, complaints } = await open({ at: '/calls' })
    await page.getByRole('table', { name: 'Calls, newest first' }).waitFor()
    const ended = new AbortController()
    const call = gateway.call('slow_report', {}, { origin: 'mcp', signal: ended.signal })
    await page.getByRole('row', { name: /slow_report mcp|slow_report .*mcp running/ }).waitFor()
    ended.abort()
    await call
    await page.getByRole('row', { name: /slow_report .*cancelled.*slow/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('are filtered by tool, source and outcome, and the address says so', async () => {
    const { page } = await open({ at: '/calls' })
    await page.getByLabel('Source').selectOption('camera')
    await page.getByLabel('Outcome').selectOption('slow')
    const rows = page.getByRole('table', { name: 'Calls, newest first' }).locator('tbody tr')
    await expect
      .poll(async () => (await rows.allInnerTexts()).every(text => text.includes('camera')))
      .toBe(true)
    expect(await rows.count()).toBe(await page.locator('.call-table .slow-mark').count())
    expect(page.url()).toContain('#/calls?source=camera&outcome=slow')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Show 40 more' }).waitFor()
  })

  it('can be held still', async () => {
    const { page, gateway } = await open({ at: '/calls' })
    await page.getByRole('button', { name: /Live/ }).click()
    await gateway.call('echo', { x: 1 }, { origin: 'http', signal: never })
    await page.getByRole('button', { name: 'Paused, 1 new · resume' }).click()
    await page.getByRole('row', { name: /echo.*http/ }).waitFor()
  })

  it('open with arguments, result and timing', async () => {
    const { page, gateway } = await open({ at: '/calls' })
    await gateway.call('get_device_sensor_data', { deviceName: 'Hall' }, { origin: 'chat', signal: never })
    await page.getByRole('row', { name: /get_device_sensor_data.*Hall"/ }).click()
    const detail = page.getByRole('complementary', { name: 'Call 141' })
    await detail.getByLabel('Arguments', { exact: true }).getByText('"Hall"').waitFor()
    await detail.getByText('31 ms').first().waitFor()
    await detail.getByText('Requested by').waitFor()
    await detail.getByText('The zwave service is unavailable').waitFor()
    await page.keyboard.press('Escape')
    await detail.waitFor({ state: 'detached' })
  })

  it('run again, as they were or edited', async () => {
    const { page, gateway } = await open({ at: '/calls/141' })
    await page.getByText('no longer available').waitFor()
    await gateway.call(
      'control_zwave_device',
      { deviceName: 'Lamp', action: 'off' },
      { origin: 'mcp', signal: never },
    )
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('Lamp is off.').waitFor()
    expect(gateway.calls.at(-1)).toMatchObject({ serial: '142', args: { deviceName: 'Lamp', action: 'off' } })
    await page.goBack()
    await page.getByRole('link', { name: 'Edit and run' }).click()
    await page.getByLabel('deviceName').fill('Fan')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Fan is off.').waitFor()
  })

  it('whose secrets were removed are not run again as they are', async () => {
    const { page, gateway } = await open({ at: '/calls/141' })
    await page.getByText('no longer available').waitFor()
    await gateway.call('echo', { token: '[removed]' }, { origin: 'mcp', signal: never })
    await page.getByText('Secrets were removed').waitFor()
    expect(await page.getByRole('button', { name: 'Run again' }).isDisabled()).toBe(true)
  })

  it('have their latency drawn, for all tools and for one', async () => {
    const { page } = await open({ at: '/calls' })
    await page.getByRole('heading', { name: 'Latency of all tools' }).waitFor()
    await page
      .getByRole('img', { name: /Latency of all tools/ })
      .locator('canvas')
      .waitFor()
    await page
      .getByRole('table', { name: 'Latency of each tool' })
      .getByRole('link', { name: 'math_eval' })
      .click()
    await page.getByRole('heading', { name: 'Latency of math_eval' }).waitFor()
    expect(await page.locator('.latency-table tbody tr').count()).toBe(1)
  })

  it('before those of this run are loaded from the history, a page at a time, with the filters', async () => {
    const { page, gateway, complaints } = await open({ at: '/calls?tool=echo' })
    gateway.older = Array.from({ length: 150 }, (_, index) => ({
      serial: `00-${10_000 - index}`,
      tool: index % 2 ? 'echo' : 'other',
      source: 'local',
      origin: 'mcp',
      args: { old: index },
      startedAt: 1_700_000_000_000 - index,
      durationMs: 3,
      slow: false,
      result: { success: true, result: `answer ${index}`, tool_name: 'echo', execution_time_ms: 3 },
    }))
    await page.getByRole('button', { name: 'Load older' }).click()
    await page.getByText('No older calls.').waitFor()
    expect(gateway.questions).toEqual([expect.stringMatching(/^limit=100&tool=echo&until=\d+$/)])
    await page.getByRole('row', { name: /"old":149/ }).click()
    await page.getByRole('complementary').getByText('answer 149').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Show 40 more' }).click()
    await page.getByRole('button', { name: 'Load older' }).click()
    await page.getByRole('row', { name: /other.*"old":98/ }).waitFor()
    await page.getByRole('button', { name: 'Load older' }).click()
    await page.getByText('No older calls.').waitFor()
    expect(gateway.questions.at(-1)).toBe('limit=100&cursor=100')
    expect(complaints).toEqual([])
  })
})
