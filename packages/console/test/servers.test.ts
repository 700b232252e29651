import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

describe.runIf(hasBrowser)('the servers of the console', () => {
  it('are seen to go and to come back', async () => {
    const { page, gateway, complaints } = await open({ at: '/servers' })
    const zwave = page.getByRole('article', { name: 'Server zwave' })
    await zwave.getByText('ready', { exact: true }).waitFor()
    const nextAttemptAt = new Date(Date.now() + 3_600_000).toISOString()
    gateway.setServer('zwave', { state: 'lost', error: 'the server was killed', tools: [], nextAttemptAt })
    await zwave.getByText('the server was killed').waitFor()
    await zwave.getByText(/Next attempt in 3\d{3} s/).waitFor()
    await page.getByRole('link', { name: /Servers.*2 not ready/ }).waitFor()
    gateway.setServer('zwave', {
      state: 'ready',
      error: '',
      tools: ['list_zwave_devices'],
      nextAttemptAt: '',
    })
    await zwave.getByText('ready', { exact: true }).waitFor()
    await zwave.getByRole('link', { name: 'list_zwave_devices' }).click()
    await page.getByRole('heading', { name: 'list_zwave_devices' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('whose calls are paused say so, and when the next one is let through', async () => {
    const { page, gateway, complaints } = await open({ at: '/servers' })
    const zwave = page.getByRole('article', { name: 'Server zwave' })
    await zwave.getByText('ready', { exact: true }).waitFor()
    expect(await zwave.getByText('Calls paused').count()).toBe(0)
    const retryAt = new Date(Date.now() + 3_600_000).toISOString()
    gateway.setServer('zwave', { breaker: { state: 'open', failures: 5, retryAt, error: 'it timed out' } })
    await zwave.getByText('Calls paused').waitFor()
    await zwave.getByText('5 calls in a row failed').waitFor()
    await zwave.getByText(/Next attempt in 3\d{3} s/).waitFor()
    await zwave.getByText('it timed out').waitFor()
    gateway.setServer('zwave', { breaker: { state: 'half-open', failures: 5 } })
    await zwave.getByText('the next call is let through').waitFor()
    gateway.setServer('zwave', { breaker: { state: 'closed', failures: 0 } })
    await zwave.getByText('Calls paused').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('[F33] show the tail of their stderr, escapes and all', async () => {
    const { page } = await open({ at: '/servers' })
    const stderr = page.getByLabel('stderr of notes')
    await stderr.getByText('Cannot find module').waitFor()
    expect(await stderr.textContent()).toContain('\\x1b[31mcode: MODULE_NOT_FOUND\\x1b[0m')
  })

  it('that want a login have a button for it, which opens the page that the gateway names', async () => {
    const { page, gateway, complaints } = await open({ at: '/servers' })
    const zwave = page.getByRole('article', { name: 'Server zwave' })
    await zwave.getByText('ready', { exact: true }).waitFor()
    expect(await zwave.getByRole('button', { name: /Log in/ }).count()).toBe(0)
    gateway.setServer('zwave', { state: 'needs_login', error: 'login required', tools: [] })
    await zwave.getByText('needs login', { exact: true }).waitFor()
    const url = `${gateway.url}/api/login-page`
    gateway.answers.set('/api/login-page', { text: '"log in here"' })
    gateway.answers.set('/api/servers/zwave/login', { text: JSON.stringify({ url }) })
    const opened = page.waitForEvent('popup')
    await zwave.getByRole('button', { name: 'Log in to zwave' }).click()
    await (await opened).waitForURL(url)
    gateway.answers.set('/api/servers/zwave/login', { status: 502, text: '{"error":"Cannot log in"}' })
    await zwave.getByRole('button', { name: 'Log in to zwave' }).click()
    await zwave.getByRole('alert').getByText('Cannot log in').waitFor()
    expect(complaints.filter(complaint => !complaint.includes('502'))).toEqual([])
  })

  it('are restarted', async () => {
    const { page } = await open({ at: '/servers' })
    await page.getByRole('button', { name: 'Restart notes' }).click()
    await page.getByRole('article', { name: 'Server notes' }).getByText('starting', { exact: true }).waitFor()
  })

  it('that change their tools change the list of tools', async () => {
    const { page, gateway } = await open({ at: '/tools' })
    await page.getByText('10 tools').waitFor()
    gateway.tools = gateway.tools.slice(0, 4)
    gateway.send('tools', {})
    await page.getByText('4 tools').waitFor()
  })
})
