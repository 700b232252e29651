import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../util/package-root.ts'

interface DatetimeResult {
  iso: string
  date: string
  time: string
  weekday: string
  timezone: string
  utc_offset: string
  text: string
}

/** The tool `datetime`: date, time and weekday, here or in another time zone. */
export function datetime(clock: { now(): number } = Date) {
  return async ({ timezone }: { timezone?: string }): Promise<DatetimeResult> => {
    const place = timezone?.trim() ? await resolvePlace(timezone) : { zone: machineZone() }
    return describeMoment(clock.now(), place)
  }
}

/** A time zone, and the spoken name of the requested place; without a name: here. */
interface Place {
  readonly zone: string
  readonly name?: string
}

function describeMoment(nowMs: number, { zone, name }: Place): DatetimeResult {
  const format = new Intl.DateTimeFormat('en-GB-u-ca-gregory-nu-latn-hc-h23', {
    timeZone: zone,
    ...{ weekday: 'long', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
  })
  const parts = Object.fromEntries(format.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  const { year, month, day, hour, minute, second, weekday = '', timeZoneName } = parts
  const monthName = new Intl.DateTimeFormat('en-GB', { timeZone: zone, month: 'long' }).format(nowMs)
  // GMT+05:30, and GMT alone for UTC
  const offset = timeZoneName?.slice('GMT'.length) || '+00:00'
  const date = `${year}-${month}-${day}`
  const time = `${hour}:${minute}`
  const where = name === undefined ? '' : ` in ${name}`
  return {
    iso: `${date}T${time}:${second}${offset}`,
    date,
    time,
    weekday,
    timezone: zone,
    utc_offset: offset,
    text: `It is ${time} on ${weekday}, ${Number(day)} ${monthName} ${year}${where}.`,
  }
}

const MAX_SUGGESTIONS = 3
/** Longer than any name; comparing it with all of them would be a waste of time. */
const MAX_COMPARED_CHARS = 60

/** `data/cities.json`: names by zone, and replaced zone names → current ones. */
interface Cities {
  places: Readonly<Record<string, readonly string[]>>
  current: Readonly<Record<string, string>>
}

let data: { cities: Cities; known: Map<string, Required<Place>> } | undefined

/** Cities, countries and zones by their key. */
function knownPlaces() {
  if (data) return data
  const cities: Cities = JSON.parse(readFileSync(join(packageRoot(), 'data', 'cities.json'), 'utf8'))
  const known = new Map<string, Required<Place>>()
  for (const listed of Intl.supportedValuesOf('timeZone')) {
    const zone = cities.current[listed] ?? listed
    for (const name of [listed, zone])
      for (const key of [name, cityOf(name)]) known.set(placeKey(key), { zone, name: cityOf(name) })
  }
  for (const [zone, names] of Object.entries(cities.places))
    for (const name of names) known.set(placeKey(name), { zone, name })
  data = { cities, known }
  return data
}

/** The zone of an IANA name, a city or a country; throws with similar names if there is none. */
async function resolvePlace(given: string): Promise<Place> {
  const { known } = knownPlaces()
  const [city = '', country = '', ...more] = given.split(',').map(part => known.get(placeKey(part)))
  const place = known.get(placeKey(given)) ?? findLinkedZone(given)
  if (place) return place
  // `Tokyo, Japan`: certain only if both names are in one zone (`Paris, Texas` is not).
  if (city && country && more.length === 0 && city.zone === country.zone) return city
  const near = await nearPlaces(given)
  const suggestion = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
  throw new Error(
    `Unknown time zone or city '${given}'.${suggestion} Use an IANA name such as 'Europe/Berlin', or a well-known city.`,
  )
}

/** The zone of this machine; UTC if its TZ setting names none (empty, or a POSIX rule). */
function machineZone(): string {
  return canonicalZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? 'UTC'
}

/** Names that IANA keeps as links and ICU does not list: `US/Pacific`, `CET`, `Etc/GMT+5`. */
function findLinkedZone(given: string): Place | undefined {
  const name = given.trim().replace(/\s+/g, '_')
  // Newer ICU releases accept offsets such as `+05:30` as zones, older ones do not: always refuse them.
  const zone = /^[a-z]/i.test(name) ? canonicalZone(name) : undefined
  return zone === undefined ? undefined : { zone, name: name.includes('/') ? cityOf(name) : name }
}

function canonicalZone(name: string | undefined): string | undefined {
  try {
    const zone = name && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return zone ? (knownPlaces().cities.current[zone] ?? zone) : undefined
  } catch {
    return undefined
  }
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')
}

/** One spelling for `New_York`, ` new  york`, `São Paulo`, `Washington, D.C.`, `the Netherlands`. */
function placeKey(name: string): string {
  const plain = name.toLowerCase().normalize('NFD')
  const words = plain.replace(/[\p{M}.'’]/gu, '').replace(/[\s_,-]+/g, ' ')
  return words.trim().replace(/^the /, '')
}

async function nearPlaces(given: string): Promise<string[]> {
  const key = placeKey(given.split(',')[0] ?? given).slice(0, MAX_COMPARED_CHARS)
  const { distance } = await import('fastest-levenshtein')
  const scored = [...knownPlaces().known]
    .map(([name, place]) => ({ name, place, edits: distance(key, name) }))
    .sort((a, b) => a.edits - b.edits)
  // One edit more than the best is still a plausible guess; beyond that it is noise.
  const mostEdits = Math.min(Math.max(1, Math.floor(key.length / 3)), (scored[0]?.edits ?? 0) + 1)
  const near = scored.filter(({ edits }) => edits <= mostEdits)
  const names = near.map(({ name, place }) => (name.includes('/') ? place.zone : place.name))
  return [...new Set(names)].slice(0, MAX_SUGGESTIONS)
}
