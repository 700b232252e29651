import { currentZoneNames, placesByZone } from './cities.ts'

/** A time zone, and the spoken name of the requested place. */
export interface Place {
  readonly zone: string
  readonly name: string
}

const MAX_SUGGESTIONS = 3
/** Longer than any name; comparing it with all of them would be a waste of time. */
const MAX_COMPARED_CHARS = 60

let knownPlaces: Map<string, Place> | undefined

/** The zone of an IANA name, a city or a country; throws with similar names if there is none. */
export async function resolvePlace(given: string): Promise<Place> {
  const place = findPlace(given) ?? findLinkedZone(given) ?? findCityInCountry(given)
  if (place) return place
  throw new Error(await unknownPlaceMessage(given))
}

/** The zone of this machine; UTC if its TZ setting names none (empty, or a POSIX rule). */
export function machineZone(): string {
  return canonicalZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? 'UTC'
}

function findPlace(given: string): Place | undefined {
  knownPlaces ??= collectPlaces()
  return knownPlaces.get(placeKey(given))
}

/** Names that IANA keeps as links and ICU does not list: `US/Pacific`, `CET`, `Etc/GMT+5`. */
function findLinkedZone(given: string): Place | undefined {
  const name = given.trim().replace(/\s+/g, '_')
  // Newer ICU releases accept offsets such as `+05:30` as zones, older ones do not: always refuse them.
  const zone = /^[a-z]/i.test(name) ? canonicalZone(name) : undefined
  return zone === undefined ? undefined : { zone, name: name.includes('/') ? cityOf(name) : name }
}

/** `Tokyo, Japan`: certain only if both names are in one zone (`Paris, Texas` is not). */
function findCityInCountry(given: string): Place | undefined {
  const [city, country, ...more] = given.split(',')
  if (city === undefined || country === undefined || more.length > 0) return undefined
  const place = findPlace(city)
  return place && place.zone === findPlace(country)?.zone ? place : undefined
}

function canonicalZone(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return currentZoneNames[zone] ?? zone
  } catch {
    return undefined
  }
}

function collectPlaces(): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const listed of Intl.supportedValuesOf('timeZone')) {
    const zone = currentZoneNames[listed] ?? listed
    for (const name of [listed, zone]) {
      places.set(placeKey(name), { zone, name: cityOf(name) })
      places.set(placeKey(cityOf(name)), { zone, name: cityOf(name) })
    }
  }
  for (const [zone, names] of Object.entries(placesByZone)) {
    for (const name of names) places.set(placeKey(name), { zone, name })
  }
  return places
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')
}

/** One spelling for `New_York`, ` new  york`, `São Paulo`, `Washington, D.C.`, `the Netherlands`. */
function placeKey(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}.'’]/gu, '')
    .replace(/[\s_,-]+/g, ' ')
    .trim()
    .replace(/^the /, '')
}

async function unknownPlaceMessage(given: string): Promise<string> {
  const near = await nearPlaces(given)
  const suggestion = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
  return `Unknown time zone or city '${given}'.${suggestion} Use an IANA name such as 'Europe/Berlin', or a well-known city.`
}

async function nearPlaces(given: string): Promise<string[]> {
  const key = placeKey(given.split(',')[0] ?? given)
  if (key.length > MAX_COMPARED_CHARS) return []
  const { distance } = await import('fastest-levenshtein')
  const scored = [...(knownPlaces ?? [])]
    .map(([known, place]) => ({ known, place, edits: distance(key, known) }))
    .sort((a, b) => a.edits - b.edits)
  // One edit more than the best is still a plausible guess; beyond that it is noise.
  const mostEdits = Math.min(Math.max(1, Math.floor(key.length / 3)), (scored[0]?.edits ?? 0) + 1)
  const near = scored.filter(({ edits }) => edits <= mostEdits)
  const names = near.map(({ known, place }) => (known.includes('/') ? place.zone : place.name))
  return [...new Set(names)].slice(0, MAX_SUGGESTIONS)
}
