import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name })
const connected = (page: Page) => page.getByText('Connected', { exact: true }).waitFor()

const FORM = {
  message: 'Please fill in the form',
  server: 'everything',
  tool: 'trigger-elicitation-request',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name', description: 'As on the door', minLength: 2 },
      mail: { type: 'string', title: 'Mail', format: 'email' },
      age: { type: 'integer', title: 'Age', minimum: 0, default: 42 },
      agree: { type: 'boolean', title: 'I agree' },
      pet: { type: 'string', title: 'Pet', enum: ['c', 'd'], enumNames: ['Cat', 'Dog'] },
      hero: { type: 'string', title: 'Hero', oneOf: [{ const: 'h1', title: 'Superman' }] },
      fish: {
        type: 'array',
        title: 'Fish',
        items: {
          anyOf: [
            { const: 'f1', title: 'Tuna' },
            { const: 'f2', title: 'Trout' },
          ],
        },
      },
    },
    required: ['name'],
  },
}

describe.runIf(hasBrowser)('a question in the console', () => {
  it('[F66] is a form from its schema, checked before it is sent', async () => {
    const { page, gateway, complaints } = await open({ at: '/chat' })
    await connected(page)
    await page.getByLabel('Message').fill('good mor')
    const id = gateway.askPerson(FORM)
    await dialog(page).getByText('Please fill in the form').waitFor()
    await page.keyboard.type('ning')
    expect(await page.getByLabel('Message').inputValue()).toBe('good morning')
    expect(await page.title()).toBe('(1) Chat · Toolpost')
    expect(await dialog(page).getByRole('heading').textContent()).toBe('everything asks')
    await dialog(page).getByLabel('Mail').fill('nonsense')
    await expect.poll(() => button(page, 'Send').getAttribute('aria-disabled')).toBe('false')
    await button(page, 'Send').click()
    await dialog(page).locator('.field-problem, .error-detail').first().waitFor()
    expect(gateway.answered).toEqual({})
    await dialog(page).getByLabel('Your name').fill('Ada')
    await dialog(page).getByLabel('Mail').fill('ada@example.com')
    await dialog(page).getByLabel('Pet').selectOption({ label: 'Dog' })
    await dialog(page).getByLabel('Trout').check()
    expect(await seriousFindings(page)).toEqual([])
    await button(page, 'Send').click()
    await dialog(page).waitFor({ state: 'detached' })
    expect(gateway.answered).toEqual({
      [id]: {
        action: 'accept',
        content: { name: 'Ada', mail: 'ada@example.com', age: 42, pet: 'd', fish: ['f2'] },
      },
    })
    expect(complaints).toEqual([])
  })

  it('is declined or cancelled, and says why an answer was not taken', async () => {
    const { page, gateway } = await open({ at: '/tools' })
    await connected(page)
    const id = gateway.askPerson({ server: 'files', message: 'Go on?' })
    gateway.answers.set('questions', { status: 400, text: '{"error":"no such luck"}' })
    await expect.poll(() => button(page, 'Yes').getAttribute('aria-disabled')).toBe('false')
    await button(page, 'Yes').click()
    await dialog(page).getByText('The answer was not accepted: no such luck').waitFor()
    gateway.answers.clear()
    await button(page, 'Decline').click()
    await dialog(page).waitFor({ state: 'detached' })
    const next = gateway.askPerson({ server: 'files', message: 'And now?' })
    await expect.poll(() => button(page, 'Cancel').getAttribute('aria-disabled')).toBe('false')
    await button(page, 'Cancel').click()
    await expect
      .poll(() => gateway.answered)
      .toEqual({
        [id]: { action: 'decline' },
        [next]: { action: 'cancel' },
      })
  })

  it('[F66] shows an address whole, its host large, and opens it only by a click', async () => {
    const { page, gateway } = await open({ at: '/tools' })
    await connected(page)
    const url = `https://bank.example@${new URL(gateway.url).host}/login?next=%2Fhome`
    const id = gateway.askPerson({ server: 'bank', message: 'Log in', url: url.replace('https:', 'http:') })
    await dialog(page).getByText('wants you to open a page').waitFor()
    const host = dialog(page).locator('.question-host')
    expect(await host.textContent()).toBe(new URL(gateway.url).host)
    const link = dialog(page).getByRole('link', { name: /^Open/ })
    await link.waitFor()
    expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual([
      'noopener noreferrer',
      '_blank',
    ])
    expect(page.context().pages()).toHaveLength(1)
    expect(gateway.answered).toEqual({})
    expect(await seriousFindings(page)).toEqual([])
    const newTab = page.context().waitForEvent('page')
    await link.click()
    const tab = await newTab
    expect(await tab.evaluate(() => globalThis.opener)).toBeNull()
    await tab.close()
    await expect.poll(() => gateway.answered).toEqual({ [id]: { action: 'accept' } })
    gateway.askPerson({ server: 'bank', message: 'Log in', url: 'javascript:alert(1)' })
    await dialog(page).getByText('This is not a web address').waitFor()
    expect(await link.count()).toBe(0)
  })

  it('[F66] never has a field for a secret, on a phone either', async () => {
    const { page, gateway } = await open({ at: '/tools', viewport: { width: 390, height: 800 } })
    await connected(page)
    const properties = { user: { type: 'string' }, password: { type: 'string', title: 'Password' } }
    const schema = { type: 'object', properties, required: ['password'] }
    gateway.askPerson({ server: 'phish', message: 'Who are you?', schema, secretFields: ['password'] })
    await dialog(page).getByText('this question can only be declined').waitFor()
    expect(await dialog(page).getByRole('textbox').count()).toBe(0)
    expect(await button(page, 'Send').count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  })
})
