/** The spoken singular of a unit, and its plural if that is not just an added s. */
const SAID: Readonly<Record<string, readonly [one: string, several?: string]>> = {
  '%': ['percent', 'percent'],
  '‰': ['per mille', 'per mille'],
  '°C': ['degree Celsius', 'degrees Celsius'],
  '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
  '°': ['degree'],
  mW: ['milliwatt'],
  W: ['watt'],
  kW: ['kilowatt'],
  MW: ['megawatt'],
  Wh: ['watt hour'],
  kWh: ['kilowatt hour'],
  MWh: ['megawatt hour'],
  'W/m²': ['watt per square metre', 'watts per square metre'],
  VA: ['volt ampere'],
  var: ['var'],
  mV: ['millivolt'],
  V: ['volt'],
  kV: ['kilovolt'],
  mA: ['milliamp'],
  A: ['amp'],
  Ah: ['amp hour'],
  mAh: ['milliamp hour'],
  Ω: ['ohm'],
  Hz: ['hertz', 'hertz'],
  kHz: ['kilohertz', 'kilohertz'],
  MHz: ['megahertz', 'megahertz'],
  GHz: ['gigahertz', 'gigahertz'],
  mm: ['millimetre'],
  cm: ['centimetre'],
  m: ['metre'],
  km: ['kilometre'],
  mi: ['mile'],
  ft: ['foot', 'feet'],
  'm²': ['square metre'],
  'm³': ['cubic metre'],
  'cm²': ['square centimetre'],
  'cm³': ['cubic centimetre'],
  'km²': ['square kilometre'],
  'm/s': ['metre per second', 'metres per second'],
  'km/h': ['kilometre per hour', 'kilometres per hour'],
  'mm/h': ['millimetre per hour', 'millimetres per hour'],
  'm³/h': ['cubic metre per hour', 'cubic metres per hour'],
  mph: ['mile per hour', 'miles per hour'],
  rpm: ['revolution per minute', 'revolutions per minute'],
  mg: ['milligram'],
  g: ['gram'],
  kg: ['kilogram'],
  lb: ['pound'],
  lbs: ['pound'],
  oz: ['ounce'],
  ml: ['millilitre'],
  mL: ['millilitre'],
  cl: ['centilitre'],
  l: ['litre'],
  L: ['litre'],
  'l/min': ['litre per minute', 'litres per minute'],
  'l/h': ['litre per hour', 'litres per hour'],
  Pa: ['pascal'],
  hPa: ['hectopascal'],
  kPa: ['kilopascal'],
  mbar: ['millibar'],
  bar: ['bar'],
  psi: ['pound per square inch', 'pounds per square inch'],
  lx: ['lux', 'lux'],
  lm: ['lumen'],
  dB: ['decibel'],
  dBA: ['decibel'],
  dBm: ['d B m', 'd B m'],
  ppm: ['part per million', 'parts per million'],
  ppb: ['part per billion', 'parts per billion'],
  'µg/m³': ['microgram per cubic metre', 'micrograms per cubic metre'],
  'mg/m³': ['milligram per cubic metre', 'milligrams per cubic metre'],
  ms: ['millisecond'],
  s: ['second'],
  sec: ['second'],
  min: ['minute'],
  h: ['hour'],
  hr: ['hour'],
  hrs: ['hour'],
  B: ['byte'],
  kB: ['kilobyte'],
  KB: ['kilobyte'],
  MB: ['megabyte'],
  GB: ['gigabyte'],
  TB: ['terabyte'],
  'MB/s': ['megabyte per second', 'megabytes per second'],
  'Mbit/s': ['megabit per second', 'megabits per second'],
  Mbps: ['megabit per second', 'megabits per second'],
}

/** Units that could also end a name, as in "Zone 3A", count only after a space. */
const AFTER_A_SPACE = new Set(['A', 'B', 'L', 'l', 'VA', 'var'])

/** Longest first; spelling variants are the same unit. */
const written = Object.keys(SAID)
  .sort((a, b) => b.length - a.length)
  .map(unit =>
    unit
      .replaceAll('µ', '[µμ]')
      .replace(/[²³]/g, exponent => (exponent === '²' ? '(?:²|\\^?2)' : '(?:³|\\^?3)')),
  )
  .join('|')

/** A number and its unit. */
export const QUANTITY = new RegExp(
  `(?<![\\p{L}\\d.,])(\\d[\\d.,]*)([ \\u00a0\\u202f]?)(${written})(?![\\p{L}\\p{N}²³^]|/(?!\\p{L}{3}))`,
  'gu',
)

/** `21.5 degrees Celsius`; `1 watt`. Anything that is not a unit stays. */
export function sayQuantity(whole: string, number: string, space: string, unit: string): string {
  const said = SAID[unit.replace('μ', 'µ').replace(/\^?2/, '²').replace(/\^?3/, '³')]
  if (!said || (space === '' && AFTER_A_SPACE.has(unit))) return whole
  const [one, several = `${one}s`] = said
  return `${number} ${number === '1' ? one : several}`
}
