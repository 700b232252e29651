import { wordSet } from '../words.ts'

/*
 * What people call the things in a home: "light" and "lamp" are one kind, "blinds" and "shades" another.
 */

const NOUNS: Readonly<Record<string, string>> = {
  light:
    'lamp bulb lighting chandelier spotlight downlight downlighter uplighter lantern sconce lightbulb spot pendant',
  switch: '',
  plug: 'outlet socket',
  fan: 'ventilator',
  ac: 'aircon airco airconditioner airconditioning',
  heater: 'radiator',
  blind: 'shade curtain shutter drape',
  door: '',
  window: '',
  gate: '',
  garage: '',
  lock: 'deadbolt',
  thermostat: 'heating',
  sensor: 'detector',
  tv: 'television telly tele',
  computer: 'pc',
  fridge: 'refrigerator',
  vacuum: 'hoover',
  printer: '',
  speaker: '',
  pump: '',
  machine: 'maker',
  oven: '',
  kettle: '',
  dishwasher: '',
  valve: '',
  siren: '',
  camera: '',
}

/** Noun → the kind of thing it stands for. */
const KIND_OF_NOUN = new Map(
  Object.entries(NOUNS).flatMap(([kind, others]) =>
    [kind, ...others.split(' ').filter(Boolean)].map(noun => [noun, kind] as const),
  ),
)
/** Words for any device. */
const ANYTHING = wordSet('device devices thing things appliance appliances stuff everything')

/** The kind of thing a noun stands for ("lamps": light), and whether it is plural; `undefined` for other words. */
export function nounOf(word: string): { thing: string; isPlural: boolean } | undefined {
  const thing = KIND_OF_NOUN.get(word)
  if (thing !== undefined) return { thing, isPlural: false }
  const many = singulars(word)
    .map(form => KIND_OF_NOUN.get(form))
    .find(found => found !== undefined)
  return many === undefined ? undefined : { thing: many, isPlural: true }
}

/** The singular of a noun: "curtain" for "curtains". */
export function singularNoun(word: string): string {
  return nounOf(word)?.isPlural ? (singulars(word).find(form => KIND_OF_NOUN.has(form)) ?? word) : word
}

/** Possible singulars: "switche" and "switch" for "switches". */
export function singulars(word: string): string[] {
  if (word.length < 4 || !word.endsWith('s') || word.endsWith('ss')) return []
  return [word.slice(0, -1), ...(word.endsWith('es') ? [word.slice(0, -2)] : [])]
}

export function plural(noun: string): string {
  if (noun.endsWith('s')) return noun
  return /(?:ch|sh|x)$/.test(noun) ? `${noun}es` : `${noun}s`
}

/** Synonyms that are not kinds of things: a loo may be called the toilet. */
const SAME = [
  'xmas christmas',
  'loo toilet wc lavatory restroom',
  'cellar basement',
  'loft attic',
  'hall hallway corridor',
  'garden yard backyard',
  'outside outdoor outdoors exterior',
  'terrace patio',
  'couch sofa',
  'mum mom mam',
  'grandma granny nan',
  'grandpa grandad granddad',
  'temp temperature',
  'stove hob cooker',
  'dryer drier',
].map(line => line.split(' '))

export function otherWords(word: string): string[] {
  return SAME.filter(same => same.includes(word)).flatMap(same => same.filter(other => other !== word))
}

export function meansAnything(word: string): boolean {
  return ANYTHING.has(word)
}

/** All nouns, in the singular. */
export const ALL_NOUNS: readonly string[] = [...KIND_OF_NOUN.keys()]

/** Names that are always rooms, without being configured. */
export const COMMON_ROOMS: readonly string[] =
  `living room;dining room;family room;guest room;laundry room;utility room;
  kids room;bedroom;master bedroom;guest bedroom;bathroom;kitchen;hall;hallway;office;study;garage;basement;cellar;attic;
  loft;porch;patio;deck;garden;yard;backyard;driveway;balcony;nursery;playroom;den;entrance;entry;foyer;corridor;landing;
  staircase;stairs;pantry;closet;workshop;shed;terrace;conservatory;lounge;upstairs;downstairs;outside`
    .split(/;\s*/)
    .map(room => room.trim())
