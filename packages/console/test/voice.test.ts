import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { hasBrowser } from './browser.ts'
import { productUnderTest } from './product.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolpost-microphone-'))
const microphone = join(folder, 'spoken.wav')
const speaks =
  hasBrowser &&
  spawnSync('espeak-ng', ['-s', '140', '-w', microphone, 'turn on the living room light']).status === 0
const isRequired = process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

/** Everything is real, the speech model and the spoken sentence too; only the microphone plays a file. */
describe.runIf(hasBrowser && (speaks || isRequired))('talking to the chat', () => {
  const { open } = productUnderTest({ flags: ['--voice'], microphone })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('switches the light that was named', { timeout: 60_000 }, async () => {
    const { page, complaints, close } = await open('/chat', { permissions: ['microphone'] })
    await page.getByRole('button', { name: 'Talk' }).hover()
    await page.mouse.down()
    await page.getByText('Recording, 3 s').waitFor()
    await page.mouse.up()
    await page
      .getByText(/living room light is (on|at)/i)
      .first()
      .waitFor()
    await page
      .getByText(/turn on the living room light/i)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await close()
  })
})
