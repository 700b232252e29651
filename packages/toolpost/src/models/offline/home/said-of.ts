import type { Home, HomeDevice } from './home.ts'
import { nounOf, singularNoun } from './nouns.ts'
import type { Phrase } from './phrase.ts'

/*
 * Which devices words refer to.
 */

/** A general word ("light") means all of its kind; "lamp" means those called a lamp, if there are any. */
export function devicesSaid(home: Home, token: string): ReadonlySet<HomeDevice> {
  const thing = nounOf(token)?.thing ?? token
  const all = home.withWord(token)
  if (thing !== token) return all.size > 0 ? all : home.withWord(thing)
  // A home with both blinds and curtains tells them apart.
  const own =
    thing === 'blind' ? [...all].filter(({ tokens }) => tokens.map(singularNoun).includes(token)) : []
  return own.length > 0 ? new Set(own) : all
}

/** The intersection. */
function withAll(sets: ReadonlySet<HomeDevice>[]): HomeDevice[] {
  const [smallest, ...rest] = sets.sort((a, b) => a.size - b.size)
  return [...(smallest ?? [])].filter(device => rest.every(set => set.has(device)))
}

/** Whether two devices are the same kind of thing. */
export function isAlike(device: HomeDevice, other: HomeDevice): boolean {
  const shared = [...device.things].some(thing => other.things.has(thing))
  return shared || (device.things.size === 0 && other.things.size === 0 && device.kind === other.kind)
}

const found = new WeakMap<Home, Map<string, readonly HomeDevice[]>>()
const MAX_FOUND = 500

/** Devices that match every word of a phrase, and by more than a partial name. Cached. */
export function namedBy(home: Home, phrase: Phrase): readonly HomeDevice[] {
  const known = found.get(home) ?? new Map<string, readonly HomeDevice[]>()
  found.set(home, known)
  const key = `${phrase.isDefinite ? 'the ' : ''}${phrase.tokens.join(' ')};${phrase.said.join(' ')}`
  const devices = known.get(key) ?? findNamed(home, phrase)
  if (known.size >= MAX_FOUND) known.clear()
  known.set(key, devices)
  return devices
}

function findNamed(home: Home, phrase: Phrase): HomeDevice[] {
  const ways = [
    () => withAll(phrase.tokens.map(token => devicesSaid(home, token))),
    // "Bedroom blinds" means the curtains if the bedroom has no blinds.
    () => withAll(phrase.tokens.map(token => home.withWord(nounOf(token)?.thing ?? token))),
    () => heatersFor(home, phrase),
  ]
  let all: HomeDevice[] = []
  for (const find of ways) if (all.length === 0) all = find()
  return all.filter(device => isNamedBy(device, phrase))
}

/** "The heating in the garage" may be a heater. */
function heatersFor(home: Home, { tokens, said }: Phrase): HomeDevice[] {
  if (!said.includes('heating') || tokens.length < 2) return []
  return withAll(tokens.map(token => home.withWord(token === 'thermostat' ? 'heater' : token)))
}

/** Whether the words are more than a partial name: they include its kind, or all the rest. Numbers must match in place. */
function isNamedBy(device: HomeDevice, { tokens, isDefinite }: Phrase): boolean {
  const numbers = tokens.filter(token => /^\d/.test(token))
  if (numbers.length > 0 && !isRun(device.tokens, tokens)) return false
  // "The one" does not name Spot 1.
  if (numbers.length === tokens.length && device.tokens.length > tokens.length) return false
  if (tokens.some(token => device.things.has(nounOf(token)?.thing ?? ''))) return true
  if (isEndOf(device.tokens, tokens)) return true
  // "Stop reading" does not refer to the reading lamp.
  if (tokens.length === 1 && !isDefinite && !device.tokens.every(token => tokens.includes(token)))
    return false
  return device.tokens.every(token => tokens.includes(token) || nounOf(token) !== undefined)
}

/** "The printer" for the 3D printer: a name ends with what the thing is. */
function isEndOf(name: readonly string[], tokens: readonly string[]): boolean {
  const end = name.slice(-tokens.length).join(' ')
  return /\p{L}{3}/u.test(end) && end === tokens.join(' ')
}

function isRun(name: readonly string[], tokens: readonly string[]): boolean {
  return ` ${name.join(' ')} `.includes(` ${tokens.join(' ')} `)
}

/** "Turn off the kitchen" means its lights, or whatever else there can be turned off. */
export function roomAsTarget(
  room: readonly HomeDevice[],
  fits: (device: HomeDevice) => boolean,
): { devices: readonly HomeDevice[]; isAll: boolean; noun?: string } {
  const able = alive(room).filter(fits)
  const lights = able.filter(({ things }) => things.has('light'))
  if (lights.length > 0) return { devices: lights, isAll: true, noun: 'lights' }
  const devices = able.length > 0 ? able : room
  return { devices, isAll: devices.length === 1 }
}

/** The devices that have the most in common with `others`: name and room. */
export function mostAlike(devices: readonly HomeDevice[], others: readonly HomeDevice[]): HomeDevice[] {
  const shared = (device: HomeDevice) =>
    Math.max(0, ...others.map(({ words }) => [...words].filter(word => device.words.has(word)).length))
  const most = Math.max(0, ...devices.map(shared))
  return devices.filter(device => shared(device) === most)
}

const living = new WeakMap<readonly HomeDevice[], readonly HomeDevice[]>()

export function alive(devices: readonly HomeDevice[]): readonly HomeDevice[] {
  const known = living.get(devices) ?? devices.filter(({ isDead }) => !isDead)
  living.set(devices, known)
  return known
}
