/** The views, each with what must happen before its screenshot. */
export const SCENES = [
  { name: 'home', at: '/', prepare: page => page.getByText('Latest calls').waitFor() },
  {
    name: 'tools',
    at: '/tools/control_zwave_device',
    async prepare(page) {
      await page.getByLabel('deviceName').fill('Living Room Light')
      await choose(page, 'action', 'dim')
      await page.getByLabel('level').fill('40')
      await run(page)
    },
  },
  { name: 'table', at: '/tools/list_zwave_devices', prepare: run },
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
      await page.getByRole('link', { name: /math_eval/ }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('device')
      await page.getByRole('option').first().waitFor()
    },
  },
  { name: 'calls', at: '/calls', prepare: page => callsIn(page).first().waitFor() },
  {
    name: 'call',
    at: '/calls',
    async prepare(page) {
      await callsIn(page).filter({ hasText: 'control_zwave_device' }).first().click()
      await page.getByRole('tab', { name: 'Trace' }).click()
      await page.getByText('Total').waitFor()
    },
  },
  {
    name: 'compare',
    at: '/calls',
    async prepare(page) {
      await callsIn(page).filter({ hasText: 'control_zwave_device' }).first().click()
      await page.getByRole('tab', { name: 'Compare' }).click()
      await page.getByText('Other call').first().waitFor()
    },
  },
  {
    name: 'approvals',
    at: '/approvals',
    async prepare(page, product) {
      await unlock(page, product)
      await page.getByText(/Last time|No earlier/).waitFor()
    },
    tidy: product => product.waiting.abort(),
  },
  { name: 'attention', at: '/calls', prepare: unlock, tidy: product => product.waiting.abort() },
  {
    name: 'servers',
    at: '/servers/zwave',
    prepare: page => page.getByRole('article').getByText('ready', { exact: true }).waitFor(),
  },
  {
    name: 'messages',
    at: '/servers/zwave',
    async prepare(page) {
      await page.getByRole('tab', { name: 'Messages' }).click()
      await page.getByText('tools/call').first().waitFor()
    },
  },
  { name: 'add-server', at: '/servers?add=1', prepare: page => page.getByRole('dialog').waitFor() },
  {
    name: 'chat',
    at: '/chat',
    async prepare(page) {
      await ask(page, 'turn on the living room light', 1)
      await ask(page, 'What is 12 * 7.5?', 2)
      await page.getByText('Trace', { exact: true }).first().click()
    },
  },
]

const callsIn = page => page.getByRole('region', { name: 'Calls, newest first' }).getByRole('link')

/** A call that waits for approval, until it is cancelled after the screenshot. */
async function unlock(page, product) {
  product.waiting = new AbortController()
  const call = { name: 'control_lock', arguments: { deviceName: 'Back Door Lock', action: 'unlock' } }
  product.assistant.callTool(call, { signal: product.waiting.signal }).catch(() => {})
  await page.getByRole('button', { name: 'Allow once' }).first().waitFor()
}

async function choose(page, label, option) {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function ask(page, question, count) {
  await page.getByLabel('Message').fill(question)
  await page.keyboard.press('Enter')
  await page
    .getByText('Trace', { exact: true })
    .nth(count - 1)
    .waitFor()
}

async function run(page) {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page
    .getByRole('region', { name: 'Result' })
    .getByText(/ms|Raw/)
    .first()
    .waitFor()
}
