// Takes screenshots of every view of the real product: `toolpost up` with its built-in example, in Chromium.
//   npm run screenshots                       the README's screenshots, into docs/images
//   npm run screenshots -- --all --out DIR    every view at four widths, light and dark, for review
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { startProduct } from './product.mjs'
import { SCENES } from './scenes.mjs'

const { values } = parseArgs({
  options: { all: { type: 'boolean' }, out: { type: 'string' }, only: { type: 'string' } },
})
const folder = values.out ?? fileURLToPath(new URL('../../../docs/images', import.meta.url))

const LAPTOP = [1440, 900]
const PHONE = [390, 844]
const shot = (scene, [width, height], theme, name) => ({ scene, width, height, theme, name })

/** What the documentation shows: every view on a laptop, one in the dark theme, and one on a phone. */
const DOCUMENTED = SCENES.flatMap(scene => [
  shot(scene, LAPTOP, 'light', scene.name),
  ...(scene.name === 'home' ? [shot(scene, LAPTOP, 'dark', 'home-dark')] : []),
  ...(scene.name === 'tools' ? [shot(scene, PHONE, 'dark', 'phone')] : []),
])

/** For review. */
const EVERYTHING = SCENES.flatMap(scene =>
  [PHONE, [820, 1180], LAPTOP, [2560, 1440]].flatMap(size =>
    ['light', 'dark'].map(theme => shot(scene, size, theme, `${scene.name}-${size[0]}-${theme}`)),
  ),
)

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** Hides the local path of this checkout. Runs in the page. */
function hideFolder(root) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    if (text.data.includes(root)) text.data = text.data.replaceAll(root, '~/toolpost')
}

async function takeAll(shots) {
  const product = await startProduct()
  const browser = await chromium.launch({
    executablePath: process.env.TOOLPOST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  })
  try {
    for (const shot of shots) await take(browser, product, shot)
  } finally {
    await browser.close()
    await product.stop()
  }
}

async function take(browser, product, { scene, width, height, theme, name }) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    deviceScaleFactor: width < 500 ? 2 : 1,
    hasTouch: width < 500,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  await page.goto(product.console)
  await page.goto(`${product.url}#${scene.at}`)
  await scene.prepare(page, product)
  await page.evaluate(() => document.fonts.ready)
  await page.waitForTimeout(500)
  await page.evaluate(hideFolder, ROOT)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await scene.tidy?.(product)
  await context.close()
  process.stderr.write(`${name}\n`)
}

await mkdir(folder, { recursive: true })
const isWanted = ({ scene }) => values.only?.split(',').includes(scene.name) ?? true
await takeAll((values.all ? EVERYTHING : DOCUMENTED).filter(isWanted))
