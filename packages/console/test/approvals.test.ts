import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()
const UNLOCK = { deviceName: 'Back Door Lock', action: 'unlock' }

const notice = (page: Page) => page.getByRole('region', { name: 'Waiting for approval' })
const card = (page: Page, tool: string) => page.getByRole('article', { name: `Approval of ${tool}` })
const allow = (page: Page) => page.getByRole('button', { name: 'Allow once' })
const connected = (page: Page) => page.getByText('Connected', { exact: true }).waitFor()

describe.runIf(hasBrowser)('the approvals of the console', () => {
  it('are announced wherever somebody is, without taking the focus, and allowed once', async () => {
    const { page, gateway, complaints } = await open({ at: '/chat' })
    await connected(page)
    await page.getByLabel('Message').fill('good mor')
    const more = { server: 'zwave', caller: 'claude', because: 'the tool is marked as destructive' }
    const id = gateway.ask('control_lock', UNLOCK, more)
    await notice(page).getByText('Back Door Lock').waitFor()
    await page.keyboard.type('ning')
    expect(await page.getByLabel('Message').inputValue()).toBe('good morning')
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).waitFor()
    expect(await page.title()).toBe('(1) Chat · Toolpost')
    expect(await page.getByRole('status').allTextContents()).toContain(
      '1 call waiting for approval, the latest: control_lock',
    )
    const told = (await notice(page).textContent()) ?? ''
    for (const part of ['control_lock', 'claude (mcp)', 'zwave', 'destructive', '"unlock"'])
      expect(told).toContain(part)
    expect(told).toMatch(/[45] min \d+ s/)
    await allow(page).click()
    await notice(page).waitFor({ state: 'detached' })
    expect(gateway.decisions).toEqual({ [id]: { decision: 'approve' } })
    expect(await page.title()).toBe('Chat · Toolpost')
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
    expect(complaints).toEqual([])
  })

  it('are decided by the keyboard, and Escape only puts the notice away', async () => {
    const { page, gateway } = await open({ at: '/servers' })
    await connected(page)
    const id = gateway.ask('control_lock', UNLOCK)
    await notice(page).waitFor()
    await page.getByRole('button', { name: /Switch to/ }).focus()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Decide later')
    await page.keyboard.press('Escape')
    await notice(page).waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/Switch to/)
    expect(gateway.decisions).toEqual({})
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).press('Enter')
    const deny = card(page, 'control_lock').getByRole('button', { name: 'Deny' })
    await expect.poll(() => deny.getAttribute('aria-disabled')).toBe('false')
    await deny.press('Enter')
    await page.getByText('Nothing is waiting for approval').waitFor()
    expect(gateway.decisions).toEqual({ [id]: { decision: 'deny' } })
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  })

  it('can hold for the session or for good, which is said before', async () => {
    const { page, gateway } = await open({ at: '/approvals' })
    const first = gateway.ask('control_lock', UNLOCK, { caller: 'claude' })
    const second = gateway.ask('control_lock', {}, { caller: 'claude' })
    const choice = card(page, 'control_lock').first().getByLabel('How long the decision applies')
    await choice.selectOption('For this session')
    await page.getByText('every call of this tool by claude (mcp), whatever its arguments').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Allow for this session' }).click()
    await expect.poll(() => gateway.decisions[first]).toEqual({ decision: 'approve', remember: 'session' })
    await choice.selectOption('Always')
    await page.getByRole('button', { name: 'Always deny' }).click()
    await expect.poll(() => gateway.decisions[second]).toEqual({ decision: 'deny', remember: 'always' })
  })

  it('that wait already when the page is opened are shown, the oldest first, and taken away when they end', async () => {
    const { page, gateway } = await open({ at: '/servers' })
    const first = gateway.ask('control_lock', UNLOCK)
    gateway.ask('delete_notes', {})
    await page.reload()
    await card(page, 'control_lock').waitFor()
    await page.getByRole('link', { name: '1 more call waiting' }).waitFor()
    gateway.endApproval(first)
    await card(page, 'delete_notes').waitFor()
    expect(await card(page, 'control_lock').count()).toBe(0)
  })

  it('that arrive while the list is on its way are not lost to the list', async () => {
    const { page, gateway } = await open({ at: '/servers', fresh: true })
    const late = async (route: Route) => {
      const before = await route.fetch()
      gateway.ask('control_lock', UNLOCK)
      await card(page, 'control_lock').waitFor()
      await route.fulfill({ response: before })
    }
    await page.route('**/api/approvals', late, { times: 1 })
    await page.reload()
    await card(page, 'control_lock').waitFor()
    await connected(page)
    expect(await card(page, 'control_lock').count()).toBe(1)
  })

  it('are not decided by a click that was meant for the one before', async () => {
    const { page, gateway } = await open({ at: '/approvals' })
    const first = gateway.ask('control_lock', UNLOCK)
    gateway.ask('delete_notes', {})
    await card(page, 'delete_notes').waitFor()
    await page.evaluate(() => {
      // The second half of a double click, as the next one comes under the pointer.
      const clickOnTheOther = () => {
        const [next, ...others] = document.querySelectorAll<HTMLElement>('.approval .button-primary')
        if (others.length === 0) next?.click()
      }
      new MutationObserver(clickOnTheOther).observe(document.body, { childList: true, subtree: true })
    })
    await card(page, 'control_lock').getByRole('button', { name: 'Allow once' }).click()
    await card(page, 'control_lock').waitFor({ state: 'detached' })
    await expect.poll(() => allow(page).getAttribute('aria-disabled')).toBe('false')
    expect(Object.keys(gateway.decisions)).toEqual([first])
  })

  it.each([
    [404, /^control_lock is no longer waiting: it has expired/],
    [403, /^You may not decide about control_lock here: not with this token\.$/],
    [500, /^The gateway did not accept the decision about control_lock: not with this token\.$/],
  ])('say why a decision was refused with %i', async (status, words) => {
    const { page, gateway } = await open({ at: '/tools' })
    await connected(page)
    const id = gateway.ask('control_lock', UNLOCK)
    gateway.answers.set(`/api/approvals/${id}`, { status, text: '{"error":"not with this token"}' })
    await allow(page).click()
    await page.getByRole('alert').getByText(words).waitFor()
    expect(await card(page, 'control_lock').count()).toBe(status === 404 ? 0 : 1)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Close this message' }).click()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('[F33] show whatever they are asked about as text, folded if it is long', async () => {
    const { page, gateway, complaints } = await open({ at: '/approvals' })
    const hostile = '<img src=x onerror="document.title=1">\u202e\u001b[2J'
    const text = 'x'.repeat(200_000)
    gateway.ask(hostile, { [hostile]: hostile, text }, { server: hostile, caller: hostile, because: hostile })
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    const shown = (await page.locator('.approval').textContent()) ?? ''
    expect(shown.length).toBeLessThan(30_000)
    expect(shown.split('<img src=x').length).toBeGreaterThan(4)
    expect(shown).toContain('\\u202e\\x1b[2J')
    expect(await page.locator('.approval img').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('are spoken of in the chat, at the call that waits', async () => {
    const { page, gateway } = await open({ at: '/chat' })
    await connected(page)
    await page.getByLabel('Message').fill('ask before you turn on the kitchen light')
    await page.keyboard.press('Enter')
    await page.locator('.chat-call').getByText('waiting').waitFor()
    await page.getByText('The call is waiting for approval.').getByRole('link', { name: 'Decide' }).click()
    await card(page, 'control_zwave_device').getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('Nothing is waiting for approval').waitFor()
    await page.goBack()
    await page.getByText('The kitchen light is on.').waitFor()
    expect(await page.getByText('The call is waiting for approval.').count()).toBe(0)
    expect(gateway.calls.at(-1)).toMatchObject({ tool: 'control_zwave_device', result: { success: true } })
  })

  it('stand in the details of a call afterwards, with the rule, the wait and the refusal', async () => {
    const { page, gateway } = await open({ at: '/calls/900' })
    await page.getByText('no longer available').waitFor()
    const base = { tool: 'control_lock', source: 'zwave', origin: 'mcp', caller: 'claude', args: UNLOCK }
    const times = { startedAt: Date.now(), durationMs: 12_003, waitedMs: 12_000, slow: false }
    const approval = { id: 'a', by: 'console', decision: 'denied' }
    const failure = { success: false, tool_name: 'control_lock', execution_time_ms: 12_003 }
    const error = "Tool 'control_lock' was denied: a person said no (console)"
    const notes = { rule: 'rule 1: ask', approval }
    gateway.send('call', {
      ...base,
      ...times,
      serial: '900',
      notes,
      result: { ...failure, code: 'denied', error },
    })
    const detail = page.getByRole('complementary', { name: 'Call 900' })
    await detail.locator('.badge-warn').getByText('Denied', { exact: true }).waitFor()
    const told = await detail.textContent()
    for (const part of ['12.0 s', 'claude (mcp)', 'rule 1: ask', 'denied by console', 'Nothing was run'])
      expect(told).toContain(part)
    const limited = { ...failure, code: 'limited', error: 'over its limit', retry_after_ms: 2_500 }
    gateway.send('call', { ...base, ...times, serial: '901', notes: 7, result: limited })
    await page.evaluate(() => location.assign('#/calls/901'))
    const second = page.getByRole('complementary', { name: 'Call 901' })
    await second.getByText('Try again in').waitFor()
    await second.getByText('2.50 s').waitFor()
  })
})
