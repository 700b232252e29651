import type { Run } from 'toolpost/project'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

function runOf(number: number, more: Partial<Run> = {}): Run {
  const at = new Date(1_790_000_000_000 + number * 60_000).toISOString()
  return {
    id: `run-${number}`,
    tool: 'send_note',
    args: { text: `note ${number}` },
    state: 'done',
    attempts: 1,
    created_at: at,
    started_at: at,
    worker: 'kitchen-1',
    steps: [{ name: 'invoke', at, worker: 'kitchen-1' }],
    ...more,
  }
}

describe.runIf(hasBrowser)('the runs of the console', () => {
  it('say how to turn them on if they are off', async () => {
    const { page } = await open({ at: '/runs' })
    await page.getByRole('heading', { name: 'Durable runs are off' }).waitFor()
    await page.getByText('"databaseUrl"').waitFor()
  })

  it('are listed, followed and opened with their steps', async () => {
    const { page, gateway, complaints } = await open({ at: '/calls' })
    gateway.runs.list = [runOf(2, { state: 'running', attempts: 2 }), runOf(1)]
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('row', { name: /note 2.*kitchen-1.*running.*2/ }).waitFor()
    gateway.runs.put(runOf(2, { state: 'failed', attempts: 3 }))
    await page.getByRole('row', { name: /note 2.*failed.*3/ }).click()
    const detail = page.getByRole('complementary', { name: 'Run run-2' })
    await detail.getByText('invoke').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('State').selectOption('done')
    await expect.poll(() => page.locator('.run-table tbody tr').count()).toBe(1)
    expect(complaints).toEqual([])
  })

  it('are cancelled, and run again', async () => {
    const { page, gateway } = await open({ at: '/calls' })
    gateway.runs.list = [runOf(1, { state: 'waiting' })]
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('row', { name: /note 1/ }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('complementary', { name: 'Run run-1-again' }).waitFor()
    expect(gateway.runs.list.map(run => run.state)).toEqual(['waiting', 'cancelled'])
  })
})
