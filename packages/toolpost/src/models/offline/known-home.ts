import { readZwaveList, ZWAVE_LIST } from '../../known-servers/zwave-home.ts'
import { Home, type HomeWords } from './home/home.ts'
import { Listing } from './listing.ts'

/** What is in the home, as the tool that lists it tells. */
export function knownHome(written: HomeWords, onChange: () => void): Listing<Home> {
  return new Listing({
    ...ZWAVE_LIST,
    onChange,
    read: result => {
      const listed = readZwaveList(result)
      if (!listed) return undefined
      // The states come and go; what can be said does not change with them.
      const devices = listed.devices.map(({ state, ...device }) => [device, unitOf(state)])
      return { text: JSON.stringify([devices, listed.scenes]), make: () => new Home(listed, written) }
    },
  })
}

/** What a state is measured in tells what a sensor measures. */
function unitOf(state: string | undefined): string {
  return state?.replaceAll(/[\d.,-]+/g, '') ?? ''
}
