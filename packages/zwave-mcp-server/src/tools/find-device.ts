import { distance } from 'fastest-levenshtein'
import { readData } from '../data.ts'
import { type Device, type DeviceKind, fullName, kindOf } from '../zwave/device.ts'
import type { ZwaveNetwork } from '../zwave/network.ts'
import { listWords, UNKNOWN_GATEWAY, whyNotReady } from './tool.ts'

/** A device, and the endpoint if the name asked for one ("Double Switch endpoint 2"). */
export interface Found {
  readonly device: Device
  /** As it is called in answers. */
  readonly name: string
  readonly endpoint?: number
}

const MAX_NAMES = 20
const MAX_SUGGESTIONS = 3
const MIN_SIMILARITY = 0.5
const words = readData<Record<'articles' | 'endpoints', string[]>>('names.json')
const ARTICLE = new RegExp(`^(?:${words.articles.join('|')}) (?=.)`)
const ENDPOINT = new RegExp(`^(.+?) (?:(?:${words.endpoints.join('|')}) )?(\\d+)$`)

/**
 * The device that a name refers to, or a sentence that helps to name it. An unknown name may be new, so the gateways are
 * queried again. `partIsEnough`: part of a name will do, as for reading, where a wrong guess does no harm.
 */
export async function findDevice(
  network: ZwaveNetwork,
  said: string,
  { partIsEnough = false } = {},
): Promise<Found | string> {
  const first = find(network.devices(), said, partIsEnough)
  if (typeof first !== 'string') return first
  const again = (await network.refresh(0)) ? find(network.devices(), said, partIsEnough) : first
  return typeof again === 'string' && network.gateway.name === null ? `${again} ${UNKNOWN_GATEWAY}` : again
}

/**
 * The device that a command is meant for, or why it is not clear. A kind may complete the name: "back door" for
 * Back Door Lock, "thermostat" for the only one.
 */
export async function deviceToCommand(
  network: ZwaveNetwork,
  said: string,
  kind?: DeviceKind,
): Promise<Found | string> {
  const problem = await whyNoCommands(network)
  if (problem) return problem
  const exact = await findDevice(network, said)
  if (!kind || typeof exact !== 'string') return exact
  const completed = await findDevice(network, `${said} ${kind}`)
  if (typeof completed !== 'string') return completed
  const [device, ...others] = network.devices().filter(item => kindOf(item) === kind)
  return device && others.length === 0 && nameKey(said) === kind ? foundAs(device) : exact
}

/** Why no command can be passed on at all. */
export async function whyNoCommands(network: ZwaveNetwork): Promise<string | undefined> {
  const problem = await whyNotReady(network)
  if (problem) return `${problem} Nothing was sent.`
  const { gateway } = network
  if (gateway.online === false) return 'The Z-Wave gateway is offline, so nothing was sent.'
  if (gateway.driverReady === false) return "The gateway's Z-Wave driver is not ready, so nothing was sent."
  return undefined
}

/** A name as compared: without case, spaces, underscores, punctuation and article. */
export function nameKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_/-]+/g, ' ')
    .replace(/[^\p{L}\p{N} ]/gu, '')
    .replace(/ +/g, ' ')
    .trim()
    .replace(ARTICLE, '')
}

/** Finds a device by its name, with or without its location. A near miss is only suggested, never acted on. */
function find(devices: readonly Device[], said: string, partIsEnough: boolean): Found | string {
  const key = nameKey(said)
  const [, name, number] = ENDPOINT.exec(key) ?? []
  const endpoint = Number(number)
  const hasEndpoint = ({ values }: Device) => values.some(value => value.endpoint === endpoint)
  const whole = called(devices, key)
  const found = whole.length > 0 || !name ? whole : called(devices, name).filter(hasEndpoint)
  const [device, ...others] = found
  if (others.length > 0) return `Several devices are called "${said}": ${names(found)}. Say which one.`
  if (device) return whole.length > 0 ? foundAs(device) : foundAs(device, endpoint)
  const words = key.split(' ')
  const partly = devices.filter(item => words.every(word => nameKey(item.name).split(' ').includes(word)))
  if (partIsEnough && partly[0] && partly.length === 1) return foundAs(partly[0])
  const reason = `There is no device called "${said}".`
  const similar = suggestions(devices, key)
  if (similar.length > 0) return `${reason} Did you mean ${names(similar, 'or')}?`
  return `${reason} ${devices.length > 0 ? `The devices are ${names(devices)}.` : 'No devices are known.'}`
}

function foundAs(device: Device, endpoint?: number): Found {
  const name = fullName(device)
  return endpoint === undefined
    ? { device, name }
    : { device, name: `${name} endpoint ${endpoint}`, endpoint }
}

/** By name; else with its location on either side, by its node id, by its path. */
function called(devices: readonly Device[], key: string): Device[] {
  const exact = devices.filter(device => nameKey(device.name) === key)
  if (exact.length > 0) return exact
  return devices.filter(({ name, location, nodeId, path }) => {
    const after = [`${name} `, `${name} in `, `${name} in the `].map(text => text + location)
    const places = location ? [`${location} ${name}`, ...after] : []
    return [path, `node ${nodeId}`, `nodeID ${nodeId}`, ...places].map(nameKey).includes(key)
  })
}

function suggestions(devices: readonly Device[], key: string): Device[] {
  const score = (device: Device) =>
    Math.max(similarity(key, nameKey(fullName(device))), similarity(key, nameKey(device.name)))
  return devices
    .map(device => ({ device, score: score(device) }))
    .filter(({ score }) => score > MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ device }) => device)
}

/** 0 to 1: the better of spelling similarity and the share of given words found in the name. */
function similarity(key: string, name: string): number {
  const words = key.split(' ')
  const shared = words.filter(word => name.split(' ').includes(word)).length / words.length
  return Math.max(1 - distance(key, name) / Math.max(key.length, name.length, 1), shared * 0.9)
}

function names(devices: readonly Device[], joint?: string): string {
  const shown = devices.slice(0, MAX_NAMES).map(fullName)
  const more = devices.length - shown.length
  return listWords(more > 0 ? [...shown, `${more} more`] : shown, joint)
}
