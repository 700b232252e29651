import { Home, type HomeWords } from './home/home.ts'
import { Listing } from './listing.ts'
import { readZwaveList, ZWAVE_LIST } from './zwave.ts'

/** The home, as reported by the tool that lists its devices. */
export function knownHome(written: HomeWords, onChange: () => void): Listing<Home> {
  return new Listing({
    ...ZWAVE_LIST,
    onChange,
    read: result => {
      const listed = readZwaveList(result)
      if (!listed) return undefined
      // States change, but what can be said does not change with them.
      const devices = listed.devices.map(({ state, ...device }) => [device, unitOf(state)])
      return { text: JSON.stringify([devices, listed.scenes]), make: () => new Home(listed, written) }
    },
  })
}

/** The unit of a state tells what a sensor measures. */
function unitOf(state: string | undefined): string {
  return state?.replaceAll(/[\d.,-]+/g, '') ?? ''
}
