import { packageJson } from '../../util/package-root.ts'

/** The tool `datetime`: date, time and weekday, here or in another time zone. */
export function datetime(clock: { now(): number } = Date) {
  return async ({ timezone }: { timezone?: string }) => {
    // UTC if the machine's TZ setting names no zone (empty, or a POSIX rule).
    const here = () => canonicalZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? 'UTC'
    return describeMoment(clock.now(), timezone?.trim() ? resolvePlace(timezone) : { zone: here() })
  }
}

/** A time zone, and the spoken name of the requested place; without a name: here. */
interface Place {
  readonly zone: string
  readonly name?: string
}

function describeMoment(nowMs: number, { zone, name }: Place) {
  const format = new Intl.DateTimeFormat('en-GB-u-ca-gregory-nu-latn-hc-h23', {
    timeZone: zone,
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
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

let cached: ReturnType<typeof readPlaces> | undefined
const places = () => (cached ??= readPlaces())

/** Cities, countries and zones by their key, and the current names of zones: `data/cities.json`. */
function readPlaces() {
  const data = packageJson('data/cities.json')
  const current: Record<string, string> = data.current
  const known = new Map<string, Required<Place>>()
  for (const listed of Intl.supportedValuesOf('timeZone')) {
    const zone = current[listed] ?? listed
    for (const name of [listed, zone])
      for (const key of [name, cityOf(name)]) known.set(placeKey(key), { zone, name: cityOf(name) })
  }
  for (const [zone, names] of Object.entries<string[]>(data.places))
    for (const name of names) known.set(placeKey(name), { zone, name })
  return { known, current }
}

/** The zone of an IANA name, a city or a country. */
function resolvePlace(given: string): Place {
  const { known } = places()
  const place = known.get(placeKey(given)) ?? linkedZone(given)
  if (place) return place
  // `Tokyo, Japan`: certain only if both names are in one zone (`Paris, Texas` is not).
  const [city, country, ...more] = given.split(',').map(part => known.get(placeKey(part)))
  if (city && city.zone === country?.zone && more.length === 0) return city
  throw new Error(
    `Unknown time zone or city '${given}'. Use an IANA name such as 'Europe/Berlin', or a well-known city.`,
  )
}

/** Names that IANA keeps as links and ICU does not list: `US/Pacific`, `CET`, `Etc/GMT+5`. */
function linkedZone(given: string): Place | undefined {
  const name = given.trim().replace(/\s+/g, '_')
  // Newer ICU releases accept offsets such as `+05:30` as zones, older ones do not: always refuse them.
  const zone = /^[a-z]/i.test(name) ? canonicalZone(name) : undefined
  return zone === undefined ? undefined : { zone, name: name.includes('/') ? cityOf(name) : name }
}

function canonicalZone(name: string | undefined): string | undefined {
  try {
    const zone = name && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return zone && (places().current[zone] ?? zone)
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
