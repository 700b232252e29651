/** The command classes this server understands: number in the gateway's API → name in its topics. */
const TOPIC_NAMES: Readonly<Record<number, string>> = {
  37: 'switch_binary',
  38: 'switch_multilevel',
  48: 'sensor_binary',
  49: 'sensor_multilevel',
  50: 'meter',
  113: 'notification',
  128: 'battery',
}

const NUMBERS = new Map(Object.entries(TOPIC_NAMES).map(([number, name]) => [name, Number(number)]))

/** The name a command class has in a topic; one that is not used here gets the gateway's own fallback name. */
export function commandClassName(number: number): string {
  return TOPIC_NAMES[number] ?? `unknownClass_${number}`
}

/** The number of a command class by its name in a topic. */
export function commandClassNumber(name: string): number | undefined {
  return NUMBERS.get(name)
}
