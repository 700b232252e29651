import type { DeviceData, HomeWords } from './home.ts'
import { valueAt } from './response.ts'

type Listing = NonNullable<HomeWords['listing']>
const MAX_DEVICES = 5_000

/** The devices in the result of a listing tool. */
export function devicesIn(result: unknown, listing: Listing): DeviceData[] {
  const listed = valueAt(result, listing.devices)
  if (!Array.isArray(listed)) return []
  return listed.slice(0, MAX_DEVICES).flatMap((entry): DeviceData[] => {
    const text = (path: string | undefined) => {
      const value = path === undefined ? undefined : valueAt(entry, path)
      return typeof value === 'string' && value.trim() !== '' ? value : undefined
    }
    const name = text(listing.name)
    if (name === undefined) return []
    const isDead = Object.entries(listing.dead ?? {}).some(([path, value]) => valueAt(entry, path) === value)
    const [area, floor, state] = [text(listing.area), text(listing.floor), text(listing.state)]
    return [{ name, area, floor, state, kind: text(listing.kind) ?? '', isDead }]
  })
}

/** The other lists in it: scenes. */
export function listsIn(result: unknown, listing: Listing): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(listing.lists ?? {}).map(([list, path]) => {
      const values = valueAt(result, path)
      return [list, Array.isArray(values) ? values.filter(value => typeof value === 'string') : []]
    }),
  )
}
