import type { Page } from 'playwright-core'
import type { JsonSchema, ToolInfo } from 'toolpost/gateway'
import { describe, expect, it } from 'vitest'
import { seriousFindings } from './accessibility.ts'
import { hasBrowser } from './browser.ts'
import { consoleUnderTest } from './console-under-test.ts'

const { open } = consoleUnderTest()

function tool(name: string, more: Partial<ToolInfo> = {}): ToolInfo {
  return {
    name,
    description: '',
    source: 'local',
    signature: `${name}()`,
    schema: { type: 'object' },
    ...more,
  }
}

const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click()

/** Goes to another tool inside of the page, which only a page that is alive can do. */
async function openTool(page: Page, name: string): Promise<void> {
  await page.evaluate(hash => location.assign(hash), `#/tools/${encodeURIComponent(name.toWellFormed())}`)
}

/** How long the page was busy at a stretch since it was opened, in milliseconds. */
function longestTask(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>(resolve => {
        const observer = new PerformanceObserver(list =>
          resolve(Math.max(...list.getEntries().map(({ duration }) => duration))),
        )
        observer.observe({ type: 'longtask', buffered: true })
        setTimeout(() => resolve(0), 200)
      }),
  )
}

const text = { type: 'string' }
const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`p${at}`, text]))
const tree: JsonSchema = { properties: { name: text, children: { type: 'array', items: { $ref: '#' } } } }

function levels(width: number, depth: number): JsonSchema {
  const level = (at: number) => ({
    anyOf: Array.from({ length: width }, () => ({ $ref: `#/$defs/l${at + 1}` })),
  })
  const $defs: JsonSchema = Object.fromEntries(
    Array.from({ length: depth }, (_, at) => [`l${at}`, level(at)]),
  )
  return { properties: { a: { $ref: '#/$defs/l0' } }, $defs: { ...$defs, [`l${depth}`]: text } }
}

describe.runIf(hasBrowser)('a page that is shown hostile things', () => {
  it('[F45] gives the arguments of a schema without end as JSON, and says so', async () => {
    const { page, gateway, complaints } = await open()
    const schemas: Record<string, JsonSchema> = {
      endless: { properties: { next: { $ref: '#' } } },
      exponential: levels(8, 8),
      wide: { properties: wide },
      unresolved: { properties: { a: { $ref: '#/%' } } },
      broken: { properties: { a: { type: 'array', items: 7, enum: 'x', anyOf: 'y' } }, required: 7 },
    }
    gateway.tools = Object.entries(schemas).map(([name, schema]) => tool(name, { schema }))
    gateway.send('tools', {})
    await page.getByText('5 tools').waitFor()
    for (const name of Object.keys(schemas)) {
      await openTool(page, name)
      await page.getByRole('heading', { name }).waitFor()
      if (name !== 'broken') await page.getByText('Enter the arguments as JSON.').waitFor()
      if (await page.getByText('JSON', { exact: true }).isVisible())
        await page.getByText('JSON', { exact: true }).click()
      await page.getByLabel('Arguments as JSON').fill('{"a":1}')
      await run(page)
      await expect.poll(() => gateway.calls.at(-1)).toMatchObject({ tool: name, args: { a: 1 } })
    }
    await page.getByText('Connected', { exact: true }).waitFor()
    // React reports the one failure of the form package that it caught, and the browser each 404.
    expect(complaints.filter(text => !/404|required\?\.includes/.test(text))).toEqual([])
    expect(await longestTask(page)).toBeLessThan(4_000)
  })

  it('makes a form of a schema that contains itself in a list', async () => {
    const { page, gateway } = await open()
    gateway.tools = [tool('echo', { schema: tree })]
    gateway.send('tools', {})
    await openTool(page, 'echo')
    await page.getByLabel('name').fill('root')
    await page.getByRole('button', { name: 'Add an item' }).click()
    await page.getByLabel('name').nth(1).fill('leaf')
    await run(page)
    await page.getByText('Succeeded').waitFor()
    expect(gateway.calls.at(-1)?.args).toEqual({ name: 'root', children: [{ name: 'leaf' }] })
  })

  it('[F33] stays usable with names and descriptions of any kind', async () => {
    const { page, gateway, complaints } = await open()
    const names = [
      '\u202egnp.exe\u001b[31m',
      '\ud800lone',
      'n'.repeat(100_000),
      '__proto__',
      '../..',
      'a/b?c#d',
    ]
    gateway.tools = names.map(name => tool(name, { description: `${'long '.repeat(100_000)}\u202e` }))
    gateway.tools.push(tool('huge', { description: 'huge '.repeat(2_000_000) }))
    gateway.send('tools', {})
    await page.getByText('7 tools').waitFor()
    expect(await page.locator('.list-item-name').allTextContents()).toContain('\\u202egnp.exe\\x1b[31m')
    for (const at of gateway.tools.keys()) {
      await page.locator('.list-item').nth(at).click()
      await page.locator(`.list-item[aria-current]`).and(page.locator('.list-item').nth(at)).waitFor()
      await page.getByRole('button', { name: 'Show more' }).waitFor()
    }
    expect(await page.locator('.tool').evaluate(element => element.textContent?.length ?? 0)).toBeLessThan(
      20_000,
    )
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('shows results of any size and depth as far as a page can', async () => {
    const { page, gateway, complaints } = await open({ at: '/tools/echo' })
    const answer = (result: string) =>
      gateway.answers.set('/api/tools/echo/call', {
        text: `{"success":true,"tool_name":"echo","execution_time_ms":1,"result":${result}}`,
      })
    const result = page.locator('.run-result .viewer').first()
    const results: [string, RegExp][] = [
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /0:/],
      [JSON.stringify('ten million '.repeat(1_000_000)), /ten million/],
      [JSON.stringify(Array.from({ length: 100_000 }, (_, at) => `line ${at}`).join('\n')), /line 99\n/],
      [JSON.stringify(Array(1_000_000).fill(0)), /1000 … 1999/],
      [JSON.stringify([{ type: 'text', text: 'block '.repeat(1_000_000) }]), /block/],
      ['{"__proto__": {"a": 1}, "toString": null, "constructor": []}', /__proto__/],
    ]
    for (const [json, sign] of results) {
      answer(json)
      await run(page)
      await expect.poll(() => result.textContent()).toMatch(sign)
      expect((await result.textContent())?.length).toBeLessThan(30_000)
      await page.getByRole('button', { name: 'Clear' }).click()
    }
    expect(complaints).toEqual([])
  })

  it('shows a result with odd parts as it came', async () => {
    const { page, gateway } = await open({ at: '/tools/echo' })
    const odd = { success: false, tool_name: 'echo', execution_time_ms: 1, error: 'x', code: 'timeout' }
    gateway.answers.set('/api/tools/echo/call', {
      text: JSON.stringify({ ...odd, diagnosis: { suggestions: 7, causes: { a: 1 } }, repairs: 'none' }),
    })
    await run(page)
    await page.getByLabel('Result', { exact: true }).getByText('"suggestions"').waitFor()
    await page.getByRole('heading', { name: 'echo' }).waitFor()
  })

  it('is not disturbed by whatever the stream of events says', async () => {
    const { page, gateway, complaints } = await open({ at: '/calls' })
    await page.getByRole('table', { name: 'Calls, newest first' }).waitFor()
    const junk = [
      '{',
      'null',
      '7',
      '"text"',
      '[]',
      '{}',
      '{"serial":"1"}',
      '{"servers":7}',
      '{"servers":[null,{}]}',
      '{"approvals":[null,{"id":"a"}]}',
      '\u0000',
    ]
    for (const event of ['call', 'servers', 'approvals', 'tools', 'voice', 'unknown', '__proto__', ''])
      for (const data of junk) gateway.sendRaw(`event: ${event}\ndata: ${data}\n\n`)
    gateway.sendRaw(`data: ${'x'.repeat(40_000_000)}\n\n`)
    gateway.sendRaw(`${'garbage\n'.repeat(1_000)}:\n\nretry: soon\n\n`)
    const call = {
      serial: '900',
      tool: 'echo',
      source: 'local',
      origin: 'mcp',
      args: {},
      startedAt: 1,
      slow: false,
    }
    const result = { success: true, tool_name: 'echo', execution_time_ms: 1, result: 1 }
    gateway.send('call', { ...call, durationMs: 1, result })
    gateway.send('call', call)
    gateway.send('call', { ...call, serial: '901', result: { success: 'perhaps' } })
    await page.getByRole('row', { name: /echo.*mcp ok/ }).waitFor()
    await page.getByRole('row', { name: /echo.*mcp running/ }).waitFor()
    await page.getByText('Connected', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('[F45] does not say that the gateway is gone when one list cannot be read', async () => {
    const { page, gateway } = await open({ at: '/servers' })
    await page.getByText('Connected', { exact: true }).waitFor()
    gateway.answers.set('/api/tools', { status: 500, text: '{"error":"Maximum call stack size exceeded"}' })
    await page.reload()
    await page.getByText('The gateway could not list its tools:').waitFor()
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByRole('article', { name: 'Server zwave' }).waitFor()
    expect(await page.getByText('The gateway is not responding.').count()).toBe(0)
    gateway.answers.clear()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The gateway could not list its tools:').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Tools', exact: true }).first().click()
    await page.getByText('10 tools').waitFor()
  })

  it('leaves out only what cannot be shown of a list', async () => {
    const { page, gateway } = await open()
    await page.getByText('10 tools').waitFor()
    const odd = [null, 7, {}, { name: 7 }, { name: 'odd', description: null, schema: 'x', title: {} }]
    gateway.answers.set('/api/tools', { text: JSON.stringify({ tools: [...odd, ...gateway.tools] }) })
    gateway.send('tools', {})
    await page.getByText('11 tools').waitFor()
    await openTool(page, 'odd')
    await page.getByRole('heading', { name: 'odd' }).waitFor()
  })

  it('[F69] keeps a token that works when a link brings another, and takes that one when it does not', async () => {
    const { page } = await open({ token: 'a-secret-token', at: 'token=a-secret-token' })
    await page.getByText('10 tools').waitFor()
    const origin = page.url().split('#')[0]
    await page.goto(`${origin}#token=stolen`)
    await page.reload()
    await page.getByText('10 tools').waitFor()
    expect(page.url()).not.toContain('stolen')
    await page.evaluate(() => localStorage.setItem('toolpost.token', 'outdated'))
    await page.goto('about:blank')
    await page.goto(`${origin}#token=a-secret-token`)
    await page.getByText('10 tools').waitFor()
    await page.evaluate(() => localStorage.setItem('toolpost.token', 'outdated'))
    await page.reload()
    await page.getByText('The gateway refused this token.').waitFor()
    await page.goto(`${origin}#token=a%0Ab`)
    await page.getByText('The gateway refused this token.').waitFor()
    await page.goto(`${origin}#token=a-secret-token`)
    await page.getByText('10 tools').waitFor()
  })
})
