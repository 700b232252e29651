/** The views, each with what must happen before its screenshot. */
export const SCENES = [
  {
    name: 'home',
    at: '/',
    async prepare(page) {
      await page.evaluate(() =>
        localStorage.setItem('toolpost.favourites', '["control_zwave_device","math_eval","datetime"]'),
      )
      await page.reload()
      await page.getByText('Three things to try').waitFor()
    },
  },
  {
    name: 'tools',
    at: '/tools/control_zwave_device',
    async prepare(page) {
      await page.getByLabel('deviceName').fill('Living Room Light')
      await page.getByLabel('action').selectOption('dim')
      await page.getByLabel('level').fill('40')
      await run(page)
    },
  },
  {
    name: 'table',
    at: '/tools/list_zwave_devices',
    async prepare(page) {
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
      await run(page)
    },
  },
  {
    name: 'failure',
    at: '/tools/get_device_sensor_data',
    async prepare(page) {
      await page.getByLabel('deviceName').fill('Kichen Light')
      await run(page)
    },
  },
  {
    name: 'palette',
    at: '/tools',
    async prepare(page) {
      await page.locator('.list-item').first().waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search or jump to' }).fill('light')
      await page.getByRole('option').first().waitFor()
      await page.waitForTimeout(400)
    },
  },
  {
    name: 'calls',
    at: '/calls',
    async prepare(page) {
      await page.locator('.call-table tbody tr').first().waitFor()
      await page.waitForTimeout(500)
    },
  },
  {
    name: 'call',
    at: '/calls',
    async prepare(page) {
      await page.locator('.call-tool a', { hasText: 'list_zwave_devices' }).first().click()
      await page.locator('.call-detail').waitFor()
      await page.waitForTimeout(500)
    },
  },
  {
    name: 'approvals',
    at: '/approvals',
    async prepare(page, { assistant }) {
      // Nobody waits for the answer: the call is cancelled after the screenshot.
      this.waiting = new AbortController()
      const unlock = { name: 'control_lock', arguments: { deviceName: 'Back Door Lock', action: 'unlock' } }
      assistant.callTool(unlock, { signal: this.waiting.signal }).catch(() => {})
      await page.getByRole('button', { name: 'Allow once' }).first().waitFor()
      await page.waitForTimeout(600)
    },
    tidy() {
      this.waiting.abort()
    },
  },
  {
    name: 'servers',
    at: '/servers',
    async prepare(page) {
      await page.getByText('zwave').first().waitFor()
      await page.waitForTimeout(300)
    },
  },
  {
    name: 'runs',
    at: '/runs',
    async prepare(page) {
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
      await page.waitForTimeout(300)
    },
  },
  {
    name: 'chat',
    at: '/chat',
    async prepare(page) {
      await page.getByLabel('Message').fill('turn on the living room light')
      await page.keyboard.press('Enter')
      await page.locator('.answer-note').nth(0).waitFor()
      await page.getByLabel('Message').fill('What is 12 * 7.5?')
      await page.keyboard.press('Enter')
      await page.locator('.answer-note').nth(1).waitFor()
      await page.waitForTimeout(300)
    },
  },
]

async function run(page) {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.run-result .result').waitFor()
  await page.waitForTimeout(200)
}
