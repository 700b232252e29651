import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { wavOf } from '../src/voice/to-wav.ts'

export interface SpokenFile {
  /** For `openBrowser({ microphone })`. */
  file: string
  remove(): void
}

/** A WAV file in which somebody says that; a humming tone without espeak-ng. */
export function spokenFile(words: string): SpokenFile {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-microphone-'))
  const file = join(folder, 'spoken.wav')
  const { status } = spawnSync('espeak-ng', ['-s', '140', '-w', file, words])
  if (status !== 0) writeFileSync(file, wavOf(hum(3, 48_000), 48_000))
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Rises and falls, so that no filter for background noise takes it away. */
function hum(seconds: number, rate: number): Float32Array {
  return Float32Array.from({ length: seconds * rate }, (_, at) => {
    const t = at / rate
    return 0.5 * Math.sin(2 * Math.PI * 220 * t) * (0.5 + 0.5 * Math.sin(2 * Math.PI * 4 * t))
  })
}

export function talkButton(page: Page): Locator {
  return page.locator('.talk-button')
}

/** Puts the mouse on the button and holds it down; resolves once the page records. */
export async function holdToTalk(page: Page): Promise<void> {
  await talkButton(page).hover()
  await page.mouse.down()
  await page.getByText('Recording', { exact: true }).waitFor()
}

/** Resolves once the page has recorded for so many seconds. */
export async function recordedFor(page: Page, seconds: number): Promise<void> {
  const shown = page.locator('.talk-progress .figure')
  const readSeconds = async () => Number.parseFloat((await shown.textContent()) ?? '')
  await expect.poll(readSeconds, { timeout: seconds * 1_000 + 5_000 }).toBeGreaterThanOrEqual(seconds)
}

/** Holds the button for so many seconds, and lets go. */
export async function talkFor(page: Page, seconds: number): Promise<void> {
  await holdToTalk(page)
  await recordedFor(page, seconds)
  await page.mouse.up()
}
