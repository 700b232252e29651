import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'
import { holdToTalk, spokenFile, talkFor } from './microphone.ts'

const spoken = spokenFile('turn on the kitchen light')
const { open } = consoleUnderTest({ microphone: spoken.file })
afterAll(() => spoken.remove())

const chat = { at: '/chat', voice: true, permissions: ['microphone'] }

/** A browser that has a voice, as Chromium without a desktop has not; gives what it was asked to say. */
async function openWithVoice() {
  const opened = await open({ ...chat, fresh: true })
  await opened.page.addInitScript(() => {
    const said: string[] = []
    const synthesis = {
      getVoices: () => [{ name: 'Ada' }],
      speak: ({ text }: { text: string }) => void (text && said.push(text)),
      cancel: () => void said.push('(silence)'),
      addEventListener: () => {},
    }
    Object.defineProperty(globalThis, 'speechSynthesis', { value: synthesis })
    Object.assign(globalThis, { said })
  })
  await opened.page.reload()
  await opened.page.locator('.talk-button').waitFor()
  const said = () => opened.page.evaluate(() => (globalThis as unknown as { said: string[] }).said.splice(0))
  return { ...opened, said }
}

async function write(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message').fill(question)
  await page.keyboard.press('Enter')
  await page.getByText('Answered by offline.').last().waitFor()
}

describe.runIf(hasBrowser)('the answer to a spoken question', () => {
  it('is read aloud sentence by sentence, until somebody talks again', async () => {
    const { page, said, complaints } = await openWithVoice()
    await talkFor(page, 0.4)
    await page.getByText('Answered by offline.').waitFor()
    expect(await said()).toEqual(['(silence)', 'One moment.', 'The kitchen light is on.'])
    await holdToTalk(page)
    expect(await said()).toEqual(['(silence)'])
    await page.keyboard.press('Escape')
    expect(complaints).toEqual([])
  })

  it('is read aloud alone: what was written is answered in writing', async () => {
    const { page, said } = await openWithVoice()
    await write(page, 'turn on the desk lamp')
    expect(await said()).toEqual(['(silence)'])
  })

  it('is not read aloud once that was switched off, even after the page was reopened', async () => {
    const { page, said } = await openWithVoice()
    await page.getByRole('button', { name: 'Do not read answers aloud' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Read answers to spoken questions aloud' }).waitFor()
    await talkFor(page, 0.4)
    await page.getByText('Answered by offline.').waitFor()
    expect(await said()).toEqual(['(silence)'])
  })

  it('has no switch if the browser has no voice', async () => {
    const { page } = await open(chat)
    await page.locator('.talk-button').waitFor()
    expect(await page.getByRole('button', { name: /aloud/ }).count()).toBe(0)
  })
})
