import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'
import { holdToTalk, recordedFor, spokenFile, talkButton, talkFor } from './microphone.ts'

const spoken = spokenFile('turn on the kitchen light')
const { open } = consoleUnderTest({ microphone: spoken.file })
afterAll(() => spoken.remove())

const chat = { at: '/chat', voice: true, permissions: ['microphone'] }
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }

/** Everything that the page has opened a microphone with since then. */
async function watchMicrophone(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const { mediaDevices } = navigator
    const tracks: MediaStreamTrack[] = []
    const openMicrophone = mediaDevices.getUserMedia.bind(mediaDevices)
    mediaDevices.getUserMedia = async constraints => {
      const stream = await openMicrophone(constraints)
      tracks.push(...stream.getTracks())
      return stream
    }
    Object.assign(globalThis, { tracks })
  })
  return () =>
    page.evaluate(() =>
      (globalThis as unknown as { tracks: MediaStreamTrack[] }).tracks.map(track => track.readyState),
    )
}

/** However long a busy machine takes between two events, for the page it is a moment. */
async function stopTime(page: Page): Promise<void> {
  await page.evaluate(now => Object.assign(Date, { now: () => now }), Date.now())
}

/** What is shorter is taken for a click. */
const LONG_ENOUGH_S = 0.4

const status = (page: Page) => page.locator('.talk-status').getByRole('status')

/** A second or more of 16 kHz, mono, 16 bits, in which there is something to hear. */
function expectVoice(wav: Buffer): void {
  expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 12)).toBe('RIFFWAVE')
  expect([wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]).toEqual([1, 16_000, 16])
  const seconds = wav.readUInt32LE(40) / 32_000
  expect(seconds).toBeGreaterThan(0.9)
  expect(seconds).toBeLessThan(3)
  expect(loudest(wav)).toBeGreaterThan(3_000)
}

function loudest(wav: Buffer): number {
  const samples = Array.from({ length: (wav.length - 44) / 2 }, (_, at) => wav.readInt16LE(44 + at * 2))
  return Math.max(...samples.map(Math.abs))
}

describe.runIf(hasBrowser)('hold to talk', () => {
  it('asks what was said as if it had been written, and keeps what is being written', async () => {
    const { page, gateway, complaints } = await open(chat)
    const microphone = await watchMicrophone(page)
    await page.getByLabel('Message').fill('a draft')
    await talkFor(page, 1)
    await page.getByText('The kitchen light is on.').waitFor()
    await page.locator('.bubble', { hasText: 'turn on the kitchen light' }).waitFor()
    expect(gateway.calls.at(-1)).toMatchObject({ tool: 'control_zwave_device', origin: 'chat' })
    expect(await page.getByLabel('Message').inputValue()).toBe('a draft')
    expect(await microphone()).toEqual(['ended'])
    expect(complaints).toEqual([])
    expectVoice(gateway.recordings[0] as Buffer)
  })

  it('works with a key held down', async () => {
    const { page, gateway } = await open(chat)
    for (const [count, key] of [' ', 'Enter'].entries()) {
      await talkButton(page).focus()
      await page.keyboard.down(key)
      await page.keyboard.down(key)
      await recordedFor(page, LONG_ENOUGH_S)
      await page.keyboard.up(key)
      await expect.poll(() => page.getByText('Answered by offline.').count()).toBe(count + 1)
      expect(gateway.recordings.length).toBe(count + 1)
      expect(await talkButton(page).evaluate(button => button === document.activeElement)).toBe(true)
    }
  })

  it('works with a finger, even if that is the first touch of the page', async () => {
    const { page, gateway } = await open({ ...chat, ...phone })
    const { x = 0, y = 0 } = (await talkButton(page).boundingBox()) ?? {}
    const finger = await page.context().newCDPSession(page)
    await finger.send('Input.dispatchTouchEvent', {
      type: 'touchStart',
      touchPoints: [{ x: x + 20, y: y + 20 }],
    })
    await recordedFor(page, LONG_ENOUGH_S)
    await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await page.getByText('The kitchen light is on.').waitFor()
    expect(loudest(gateway.recordings[0] as Buffer)).toBeGreaterThan(3_000)
  })

  it('begins and sends with a click of a screen reader, which cannot hold a button', async () => {
    const { page } = await open(chat)
    await talkButton(page).evaluate((button: HTMLElement) => button.click())
    await recordedFor(page, LONG_ENOUGH_S)
    await talkButton(page).evaluate((button: HTMLElement) => button.click())
    await page.getByText('The kitchen light is on.').waitFor()
  })

  it('says that it records, with a level that moves', async () => {
    const { page } = await open(chat)
    expect(await talkButton(page).getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('button', { name: 'Hold to talk' }).waitFor()
    // In the page, at every frame: what is spoken does not wait for a busy machine.
    const moved = page.waitForFunction(() => {
      const meter = document.querySelector('.level-meter')
      return meter !== null && Number(getComputedStyle(meter).getPropertyValue('--level')) > 0.3
    })
    await holdToTalk(page)
    await page.getByRole('button', { name: 'Recording: release to send', pressed: true }).waitFor()
    expect(await status(page).textContent()).toBe('Recording')
    await moved
    await page.keyboard.press('Escape')
  })

  it('throws the recording away when it is taken out of somebody’s hands', async () => {
    const { page, gateway } = await open(chat)
    const microphone = await watchMicrophone(page)
    const ways: Record<string, () => Promise<unknown>> = {
      'the Escape key': () => page.keyboard.press('Escape'),
      'sliding off': () => page.mouse.move(200, 200),
      'a pointer that is taken away': () => talkButton(page).dispatchEvent('pointercancel'),
      'the window losing the focus': () => page.evaluate(() => dispatchEvent(new Event('blur'))),
      'the focus going elsewhere': () => page.getByLabel('Message').focus(),
      'another view': () => page.evaluate(() => location.assign('#/tools')),
    }
    for (const [way, leave] of Object.entries(ways)) {
      await holdToTalk(page)
      await leave()
      await page.getByText('Recording', { exact: true }).waitFor({ state: 'detached' })
      await page.mouse.up()
      expect(new Set(await microphone()), way).toEqual(new Set(['ended']))
      await page.evaluate(() => location.assign('#/chat'))
      await status(page).getByText('Recording discarded.').waitFor()
    }
    expect(gateway.recordings).toEqual([])
  })

  it('takes a click for a click, and says what to do', async () => {
    const { page, gateway } = await open(chat)
    const microphone = await watchMicrophone(page)
    await stopTime(page)
    await talkButton(page).click()
    await status(page).getByText('Hold the button while you speak.').waitFor()
    await holdToTalk(page)
    await page.mouse.up()
    await status(page).getByText('Hold the button while you speak.').waitFor()
    await expect.poll(microphone).toEqual(['ended', 'ended'])
    expect(gateway.recordings).toEqual([])
  })

  it('can be called off while it is being understood, and the gateway is told', async () => {
    const { page, gateway } = await open(chat)
    gateway.hears = undefined
    await page.getByLabel('Message').fill('one question at a time')
    await talkFor(page, LONG_ENOUGH_S)
    await status(page).getByText('Transcribing …').waitFor()
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await page.getByLabel('Message').press('Enter')
    await expect.poll(() => gateway.recordings.length).toBe(1)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => gateway.aborted).toEqual(['/api/transcriptions'])
    expect(await page.locator('.bubble').count()).toBe(0)
    expect(await page.getByLabel('Message').inputValue()).toBe('one question at a time')
  })

  it('says that nothing was understood, and writing goes on', async () => {
    const { page, gateway } = await open(chat)
    gateway.hears = { error: 'The recording is too quiet' }
    await page.getByLabel('Message').fill('turn on the desk lamp')
    await talkFor(page, LONG_ENOUGH_S)
    await status(page).getByText('The recording is too quiet.').waitFor()
    await page.getByLabel('Message').press('Enter')
    await page.getByText('The desk lamp is on.').waitFor()
    expect(await status(page).textContent()).toBe('')
  })

  it('says that the microphone is blocked, and writing goes on', async () => {
    const { page } = await open({ ...chat, permissions: [] })
    await page.getByLabel('Message').fill('turn on the desk lamp')
    await talkButton(page).hover()
    await page.mouse.down()
    await status(page).getByText('The microphone is blocked for this page').waitFor()
    await page.mouse.up()
    await status(page).getByText('The microphone is blocked for this page').waitFor()
    await page.getByLabel('Message').press('Enter')
    await page.getByText('The desk lamp is on.').waitFor()
  })

  it('says that the gateway is gone', async () => {
    const { page, gateway } = await open(chat)
    await page.getByLabel('Message').fill('a draft')
    await holdToTalk(page)
    await recordedFor(page, LONG_ENOUGH_S)
    await gateway.stop()
    await page.mouse.up()
    await status(page).getByText('The gateway is not responding.').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('a draft')
    expect(await talkButton(page).getAttribute('aria-disabled')).toBe('true')
  })

  it('is not offered without speech to text, and comes when that comes', async () => {
    const { page, gateway } = await open({ ...chat, voice: false })
    await page.getByText('Neither Ollama nor a key was found').waitFor()
    expect(await talkButton(page).count()).toBe(0)
    gateway.hasVoice = true
    gateway.send('voice', { available: true })
    await talkButton(page).waitFor()
  })

  it('is not offered by a browser that gives no microphone to this page', async () => {
    const { page } = await open({ ...chat, fresh: true })
    await talkButton(page).waitFor()
    await page.addInitScript(() => Object.defineProperty(navigator, 'mediaDevices', { value: undefined }))
    await page.reload()
    await page.getByText('Neither Ollama nor a key was found').waitFor()
    expect(await talkButton(page).count()).toBe(0)
  })

  it('has no serious finding of axe while it records and after, in light, in dark and on a phone', async () => {
    const { page } = await open({
      ...chat,
      fresh: true,
      colorScheme: 'light',
      reducedMotion: 'reduce',
    })
    await holdToTalk(page)
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await status(page).getByText('Recording discarded.').waitFor()
    await page.mouse.up()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize(phone.viewport)
    expect(await seriousFindings(page)).toEqual([])
    await holdToTalk(page)
    expect(await seriousFindings(page, ['color-contrast', 'target-size'])).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  })
})
