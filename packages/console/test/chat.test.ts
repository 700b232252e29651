import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message').fill(question)
  await page.keyboard.press('Enter')
}

describe.runIf(hasBrowser)('the chat of the console', () => {
  it('switches a light and shows the call in its place', async () => {
    const { page, gateway, complaints } = await open({ at: '/chat' })
    await page.getByText('Neither Ollama nor a key was found').waitFor()
    await ask(page, 'turn on the kitchen light')
    await page.getByText('The kitchen light is on.').waitFor()
    const [first, call, last] = await page.locator('.answer > :not(.visually-hidden)').allInnerTexts()
    expect(first?.trim()).toBe('One moment.')
    expect(call).toContain('control_zwave_device')
    expect(last).toBe('The kitchen light is on.')
    await page.locator('.chat-call summary').click()
    await page.getByLabel('Arguments', { exact: true }).getByText('"kitchen light"').waitFor()
    await page.getByLabel('Result', { exact: true }).getByText('kitchen light is on.').waitFor()
    await page.getByText('Answered by offline.').waitFor()
    expect(gateway.calls.at(-1)).toMatchObject({ tool: 'control_zwave_device', origin: 'chat' })
    expect(complaints).toEqual([])
  })

  it('is answered by the model that is chosen, and suggests what the tools understand', async () => {
    const { page, gateway } = await open({ at: '/tools' })
    gateway.models = [...gateway.models, { name: 'ollama:small', why: 'Found at 127.0.0.1:11434' }]
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.reload()
    await page.getByLabel('Model', { exact: true }).selectOption('ollama:small')
    await page.getByText('Found at 127.0.0.1:11434').waitFor()
    const asked = page.waitForRequest(request => request.url().endsWith('/api/chat'))
    await page.getByRole('button', { name: 'Turn on the living room light' }).click()
    expect((await asked).postDataJSON()).toMatchObject({ model: 'ollama:small' })
    await page.getByText('The room light is on.').waitFor()
  })

  it('is stopped, and the gateway is told', async () => {
    const { page, gateway } = await open({ at: '/chat' })
    await ask(page, 'talk forever')
    await page.getByText('Once upon a time').waitFor()
    await page.getByRole('button', { name: 'Stop the answer' }).click()
    await page.getByText('Stopped.').waitFor()
    await expect.poll(() => gateway.aborted).toEqual(['/api/chat'])
  })

  it('says why there is no answer', async () => {
    const { page } = await open({ at: '/chat' })
    await ask(page, 'please fail')
    await page.getByRole('alert').getByText('Ollama does not answer at 127.0.0.1:11434').waitFor()
  })

  it('is still there after visiting another view, and starts over when asked', async () => {
    const { page } = await open({ at: '/chat' })
    await page.getByRole('button', { name: 'Turn on the living room light' }).click()
    await page.getByText('The room light is on.').waitFor()
    await page.getByRole('link', { name: 'Tools' }).click()
    await page.getByText('10 tools').waitFor()
    await page.goBack()
    await page.getByText('The room light is on.').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByRole('heading', { name: 'Ask for something' }).waitFor()
  })
})
