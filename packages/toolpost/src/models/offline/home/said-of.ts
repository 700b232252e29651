import type { Home, HomeDevice } from './home.ts'
import { nounOf, singularNoun } from './nouns.ts'
import type { Phrase } from './phrase.ts'

/*
 * Which devices words are said of.
 */

/** A word that others are said for ("light") means all of them; "lamp" means what is called so, if anything is. */
export function devicesSaid(home: Home, token: string): ReadonlySet<HomeDevice> {
  const thing = nounOf(token)?.thing ?? token
  const all = home.withWord(token)
  if (thing !== token) return all.size > 0 ? all : home.withWord(thing)
  // Who has blinds and curtains tells them apart.
  const own =
    thing === 'blind' ? [...all].filter(({ tokens }) => tokens.map(singularNoun).includes(token)) : []
  return own.length > 0 ? new Set(own) : all
}

/** Those that are in all of these. */
export function withAll(sets: ReadonlySet<HomeDevice>[]): HomeDevice[] {
  const [smallest, ...rest] = sets.sort((a, b) => a.size - b.size)
  return [...(smallest ?? [])].filter(device => rest.every(set => set.has(device)))
}

/** Whether two devices are called the same kind of thing. */
export function isAlike(device: HomeDevice, other: HomeDevice): boolean {
  const shared = [...device.things].some(thing => other.things.has(thing))
  return shared || (device.things.size === 0 && other.things.size === 0 && device.kind === other.kind)
}

/** Whether the words are more than half a name: they say what it is, or leave out nothing else. Numbers stand where they stand. */
export function isNamedBy(device: HomeDevice, { tokens, isDefinite }: Phrase): boolean {
  const number = tokens.findIndex(token => /^\d/.test(token))
  if (number >= 0 && !isRun(device.tokens, tokens)) return false
  if (tokens.some(token => device.things.has(nounOf(token)?.thing ?? ''))) return true
  if (isEndOf(device.tokens, tokens)) return true
  // "Stop reading" is not said of the reading lamp.
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

/** Who says "turn off the kitchen" means its lights, or what else there can do it. */
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

/** Of some devices those that have most in common with others: name and room. */
export function mostAlike(devices: readonly HomeDevice[], others: readonly HomeDevice[]): HomeDevice[] {
  const shared = (device: HomeDevice) =>
    Math.max(0, ...others.map(({ words }) => [...words].filter(word => device.words.has(word)).length))
  const most = Math.max(0, ...devices.map(shared))
  return devices.filter(device => shared(device) === most)
}

export function alive(devices: readonly HomeDevice[]): HomeDevice[] {
  return devices.filter(({ isDead }) => !isDead)
}
