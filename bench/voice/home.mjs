import mqtt from 'mqtt'

/** The devices of the home, as they report themselves. */
export async function watchHome(url, executor) {
  const client = await mqtt.connectAsync(url)
  const state = new Map()
  const watchers = new Set()
  client.on('message', (topic, payload) => {
    const device = topic.match(/^zwave\/([^/]+)\/.*\/currentValue$/)?.[1]
    if (!device) return
    const { value } = JSON.parse(payload.toString())
    state.set(device, value)
    for (const watch of watchers) watch(device, value)
  })
  await client.subscribeAsync('zwave/#')
  const when = (device, expected) => {
    let forget = () => {}
    const reached = new Promise(resolve => {
      const timer = setTimeout(resolve, 5_000)
      const watch = (name, value) =>
        name === device && isAsSaid(value, expected) && resolve(performance.now())
      watchers.add(watch)
      forget = () => {
        clearTimeout(timer)
        watchers.delete(watch)
      }
    })
    return { reached, forget: () => forget() }
  }
  return {
    when,
    /** So that there is something to switch. */
    async prepare(device, expected) {
      const action = expected === false || expected === 0 ? 'on' : 'off'
      await executor.run({
        name: 'control_zwave_device',
        args: { deviceName: device.replaceAll('_', ' '), action },
      })
    },
    close: () => client.endAsync(),
  }
}

/** A dimmer that is switched on goes to where it was. */
function isAsSaid(value, expected) {
  return expected === 'lit' ? value > 0 : value === expected
}
