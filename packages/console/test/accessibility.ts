import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds; with `rules`, only what those rules find. */
export async function axeFindings(page: Page, rules?: string[]): Promise<string[]> {
  await injectOnce(page)
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  }
  const { violations } = await page.evaluate(
    given =>
      (globalThis as unknown as { axe: { run: (given: RunOptions) => Promise<AxeResults> } }).axe.run(given),
    options,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join(' ')}`)
}

/** Through the debugger, which the page's policy does not hold for. */
async function injectOnce(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in globalThis)) return
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  await session.detach()
}
